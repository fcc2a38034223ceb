"""External metrics: signals that the engine does not have, read from other systems."""
