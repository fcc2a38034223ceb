"""What the demo and the tests with a real cluster run: a job of known capacity, and its submission."""
