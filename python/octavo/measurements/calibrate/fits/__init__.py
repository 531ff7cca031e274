"""Fits: from the rows of a series to a value with its spread; each kind of fit has a file.

A fit that cannot be made raises `Unfit` and says why; nothing is guessed, and no value is forced into a range.
"""
