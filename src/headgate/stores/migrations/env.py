"""Alembic's way in: runs the steps on the connection it is handed, in that connection's transaction."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], version_table=context.config.attributes["version_table"]
)
context.run_migrations()
