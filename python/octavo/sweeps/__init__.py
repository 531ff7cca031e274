"""Sweeps: one scenario under many values of some of its keys, or a search for the best of them.

`spec` reads the request, `axes` and `quantity` define axes, and `plan` makes the points. `crew` and its neighbours run
them, and `store` keeps them in a folder. `search` chooses points one generation after another.

A separate process uses a Ray cluster: `cluster` starts it, and `connection` is its code. `machines` decides which
machine runs what, `hand` is a process there, and `remote` runs a point in it.
"""
