"""From outside: applications by their event logs, their REST API and their workers."""
