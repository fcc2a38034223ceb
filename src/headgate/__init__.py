"""Headgate: an autoscaler for streaming jobs that explains itself."""

__version__ = "0.1.0"
