"""Hypothesis without a clock: on a busy machine a slow example is no fault of the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("headgate", deadline=None)
settings.load_profile("headgate")
