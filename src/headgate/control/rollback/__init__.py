"""Taking back a rescale that made its job sick: what is observed, when it is judged, and what then becomes of it."""
