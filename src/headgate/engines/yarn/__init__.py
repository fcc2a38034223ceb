"""
Flink on YARN: every running Flink application of a cluster is a Flink cluster that comes and goes.

`manager` asks the ResourceManager, `reach` says how an application is asked, `applications` keeps the adapters of those
that run; `jobs`, `collector` and `realizer` are the ports.
"""
