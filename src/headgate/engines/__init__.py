"""One package for each engine that Headgate observes and acts on; they do not know each other."""
