"""Sweeps: one scenario under many values of some of its keys, or a search for the best of them.

`spec` reads the request, `axes` and `quantity` define axes, and `plan` makes the points. `crew` and its neighbours run
them, and `store` keeps them in a folder. `search` chooses them one generation after another.

A Ray cluster is used by a process of its own: `cluster` starts it, and `connection` is what it does. `machines` decides
which machine runs what, `hand` is a process there, and `remote` what that does about a point.
"""
