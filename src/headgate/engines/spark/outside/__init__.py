"""
Spark applications of a standalone cluster, seen from outside: by their event logs, their master and its workers.

`event_log` follows a log, `ledger` (with `work` and `guesses`) adds its events up, `watched` is one application, or
`gauged`, by its driver's `gauges`, where there is no log; `cluster` is one master and the applications that it lists,
with `fitting` of executors on workers; `jobs`, `collector`, `realizer` and its `lever` are the ports.
"""
