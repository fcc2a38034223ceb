"""
Files, environment and flags into typed options, each value with its origin.

The way: `sources` read, `flatten` dissolves sections into dotted keys, `names` finds the declared key for every
spelling, `loading` lays the sources over each other, `validation` makes the options, `checks` looks at them as a
whole. `jobs` lays what a job says of itself over all that.
"""

from headgate.config.describing import Described, describe, unresolvable
from headgate.config.jobs import JobSettings, for_job
from headgate.config.loading import Loaded, load
from headgate.config.origins import Origin
from headgate.config.plugins import unmakeable

__all__ = ["Described", "JobSettings", "Loaded", "Origin", "describe", "for_job", "load", "unmakeable", "unresolvable"]
