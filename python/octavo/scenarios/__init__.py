"""Scenarios: what is run, on which node, and what there is to choose from."""
