"""Publications and reference machines, run again with Octavo: `octavo reproduce` and `octavo validate`.

Each folder is a study: what was published, the runs, the tables and pictures. Octavo itself imports nothing from here.
"""
