"""What people ask a running fleet from a terminal: all jobs at a glance, and one job's past."""
