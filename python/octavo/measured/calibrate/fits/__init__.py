"""Fits: from the rows of a series to a value with its spread, each kind in a file of its own.

A fit that cannot be made raises `Unfit` and says why; nothing is guessed, and no value is moved into a range.
"""
