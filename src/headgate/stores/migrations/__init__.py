"""How the tables came to be what they are, one script a step, run by Alembic from `headgate.stores.migrating`."""
