"""Work in processes of its own, whatever happens to them.

Code from outside Octavo may crash, exit or never return; it must take down only its own process. `process` is the side
that gives orders, `orders` the side that carries them out, and `raised` carries errors between them.
"""
