"""What real GPUs do.

`activity` is what a driver reports of unified memory, `imports` makes results of profiles, `calibrate` measures a GPU
and describes it.
"""
