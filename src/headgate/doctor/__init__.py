"""
Looks at clusters before Headgate runs on them: `headgate init` and `headgate doctor`.

`looks` asks and changes nothing, `facts` is what they bring home, `checks` judge it without asking anything more, and
`examination` puts them together. `draft` writes the file that fits what was seen.
"""
