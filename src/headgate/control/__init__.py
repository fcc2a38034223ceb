"""The shell: it owns time, concurrency and effects. What to do is decided in `algorithm`."""
