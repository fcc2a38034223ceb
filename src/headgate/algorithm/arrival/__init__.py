"""What comes into a source now: since when its rate has been what it is, and how well that is known."""
