"""The memory of TaskManagers: Flink's pools, what a job needs of them, and the signs that it is short of it."""
