"""Inside the driver of an application: its queries and executors through the running session."""
