"""The built-in scaling policies of reactive mode, as plugins; the rules are `algorithm.reactive`."""
