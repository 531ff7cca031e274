"""Work in processes of its own, whatever becomes of them.

Code that is not Octavo's may crash, leave or never return, and takes nothing along but its own process. `process` is
the side of who orders, `orders` that of who works, `raised` carries errors from one to the other.
"""
