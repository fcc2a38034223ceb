"""
Files, environment and flags into typed options, each value with its origin.

The way: `sources` read, `flatten` dissolves sections into dotted keys, `names` finds the declared key for every
spelling, `loading` lays the sources over each other, `validation` makes the options.
"""

from headgate.config.describing import Described, describe, unresolvable
from headgate.config.loading import Loaded, for_job, load
from headgate.config.origins import Origin

__all__ = ["Described", "Loaded", "Origin", "describe", "for_job", "load", "unresolvable"]
