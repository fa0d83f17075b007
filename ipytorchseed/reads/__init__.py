"""What a cell reads and writes, from its code alone: nothing is run, traced or slowed."""
