"""
DS2's published results (Kalavri et al., OSDI 2018), reproduced and held against Headgate's learned scalability.

Run it with `python -m benchmarks.ds2`. Every decision is made by Headgate's own functions; DS2 is the same functions
with the curve switched off.
"""
