"""What is known of the steps without looking at them."""

from __future__ import annotations

from alembic.config import Config
from alembic.script import ScriptDirectory

from headgate.stores.migrating import SCRIPTS
from headgate.stores.schema import STEPS


def test_every_step_is_known_in_its_order() -> None:
    """A step that was written and not entered would leave new databases behind."""
    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    steps = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(steps)) == STEPS
