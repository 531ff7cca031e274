"""Pictures of samples, a file for each probe: what was measured as points, what was fitted as lines."""
