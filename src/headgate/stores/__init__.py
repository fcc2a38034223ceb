"""State stores: where the control side keeps what it must remember of each job, in memory or in a database."""
