"""Adding and removing workers: local processes, replicas on Kubernetes, a command of the user's."""
