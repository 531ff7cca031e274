"""Whether a program fits into a GPU's memory, what it costs if not, and what to move when: `octavo.fit`."""
