"""Files and folders on disk: only Octavo's own, complete or absent, by one writer at a time; not about results."""
