"""
Flink under its Kubernetes operator: every FlinkDeployment is a Flink cluster that comes and goes.

`resources` reads what the operator's resources say, `api` asks for them, `deployments` keeps the adapters of those that
run; `jobs`, `realizer` and `scale` are ports. How the operator behaves was measured, not read: see the how-to.
"""
