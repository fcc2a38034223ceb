"""
Decides again what was decided, from the log on Spark: the same with the same options, with others what would differ.

`comparing` holds a decision against the recorded one, `past` puts together what it depended on. A model of the job that
goes on after the first difference belongs into `redeciding`, where a job parts from its past.
"""
