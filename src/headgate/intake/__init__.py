"""What agents report to a Headgate service, taken in over HTTP."""
