"""Host or device for each buffer of a program: what to allocate how, why, and what it brings.

`octavo.advise` asks about a whole program; `model` has the parts that it is made of.
"""
