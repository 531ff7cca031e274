"""Runs and what they leave behind: one or many at a time, their folders, tables, measures and pictures."""
