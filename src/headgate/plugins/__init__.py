"""
Plugins: found by entry points, chosen by option, kept from doing harm.

`registry` knows which are installed, `catalog` which of them a name in the options means, `host` makes them ready to be
asked: Headgate's own here, those of others in `worker` processes.
"""
