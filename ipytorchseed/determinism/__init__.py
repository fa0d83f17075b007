"""What makes equal input give equal bits: flags, alerts, and the scope that sets and restores."""
