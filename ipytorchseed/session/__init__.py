"""A kernel's session: inspects the kernel around each cell, and records the run."""
