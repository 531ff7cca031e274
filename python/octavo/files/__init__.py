"""Files and folders on disk: what is Octavo's, whole or not at all, one writer at a time. Knows nothing of results."""
