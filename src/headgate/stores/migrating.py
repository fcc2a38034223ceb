"""Runs the steps that a database has not taken, by Alembic; apart, for Alembic takes its time to be imported."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

SCRIPTS = "headgate.stores:migrations"


def take_steps(connection: Connection, version_table: str) -> None:
    """
    Take all steps that are noted as not taken yet, on a connection that nobody else changes tables on.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: no answer, or a step failed.
    """
    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    config.attributes.update(connection=connection, version_table=version_table)
    command.upgrade(config, "head")
