"""
The steps, oldest first. A step that has been released is never changed.

Each may be run again after it was cut off: MySQL keeps what a failed one has done so far.
"""
