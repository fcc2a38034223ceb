"""
Worker processes, one a distribution: what others wrote is asked there, so that a hang or a crash stays there.

They keep failures apart, not malice: a plugin runs with the rights of Headgate.
"""
