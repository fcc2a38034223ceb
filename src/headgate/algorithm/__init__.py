"""
The pure core: numpy array programs up to evaluated metrics, plain policies from there to a decision.

The same functions run in a unit test, in a simulation and in the live cycle over a whole fleet. No clock, no I/O.
"""
