"""Published studies, run again: what was published stands beside what is found, and is never an input."""
