"""A kernel's session: inspects each cell before and after it runs, and records the run."""
