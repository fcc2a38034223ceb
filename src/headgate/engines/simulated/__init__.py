"""
A simulated engine: jobs as fluids on a cluster whose clock is moved from outside, behind the same ports as a real one.

`graph`, `curve`, `load`, `failures` and `settings` say what is simulated; `task`, `job` and `cluster` run it;
`collector`, `jobs` and `realizer` are the ports.
"""
