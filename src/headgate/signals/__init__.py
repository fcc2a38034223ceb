"""
External metrics: signals that the engine does not have, read from other systems.

`collector` puts them into the samples of any collector. It asks `source`s, one adapter a system: `prometheus`, `http`,
`sql`, `kafka`; each asks only what `answers` does not know, and fills jobs into its queries as `placeholders` tells.
"""
