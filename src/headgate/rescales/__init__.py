"""What a rescale costs, measured: a series of rescales of a real job, its raw runs, and what they teach."""
