"""Static analysis: what a cell reads and writes, without running it."""
