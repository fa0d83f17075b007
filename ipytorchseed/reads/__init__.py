"""Static analysis: what a cell reads and writes, from its code alone, without running it."""
