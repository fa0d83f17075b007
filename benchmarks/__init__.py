"""Figures side by side with peers, in one run.

Only their ratios carry over between machines.
"""
