"""Templates that `octavo new` writes, as modules that work as they are.

`MyPolicy` and `my_policy.py` stand for the user's names.
"""
