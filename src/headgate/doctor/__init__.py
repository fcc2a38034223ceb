"""Looks at clusters before Headgate runs on them: `headgate init` and `headgate doctor`."""
