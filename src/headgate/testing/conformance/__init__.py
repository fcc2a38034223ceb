"""
What every implementation of a port must do, as test classes: subclass one and give it a fixture.

Where an engine is needed, the fixture is a stage: the implementation together with an engine that the tests can move.
"""

import pkgutil

import pytest

# failures in a plugin author's own project are explained as in our own
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)))
