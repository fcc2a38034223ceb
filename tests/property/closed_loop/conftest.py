"""A profile for many more examples of the safety rules, `--hypothesis-profile=thorough`, to be run by itself."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("thorough", deadline=None, max_examples=12_000, derandomize=False)
