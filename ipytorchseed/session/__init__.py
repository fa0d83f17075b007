"""The session of a kernel: inspects it before and after each cell, records runs."""
