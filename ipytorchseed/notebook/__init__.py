"""The IPython side: events, the input transformer, and magics that parse, call and render."""
