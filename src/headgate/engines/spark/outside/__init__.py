"""
Spark applications of a standalone cluster, seen from outside: by their event logs, their master and its workers.

`event_log` follows a log, `ledger` (with `work` and `guesses`) adds its events up, `watched` is one application,
`cluster` one master and the applications that it lists; `jobs`, `collector`, `realizer` and its `lever` are the ports.
"""
