"""A kernel's session: the runs of its cells, each looked at before and after, and recorded."""
