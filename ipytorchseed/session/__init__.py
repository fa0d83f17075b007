"""A kernel's session.

The runs of its cells, each looked at before and after, and recorded.
"""
