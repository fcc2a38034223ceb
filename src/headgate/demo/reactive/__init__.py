"""The demo of reactive mode: TaskManagers come, one dies, they go, and a job follows."""
