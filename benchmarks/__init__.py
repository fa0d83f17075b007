"""Figures side by side with peers, in one run: only their ratios carry over between machines."""
