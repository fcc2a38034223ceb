"""What every implementation of a port must do, as test classes: subclass one and give it a fixture."""
