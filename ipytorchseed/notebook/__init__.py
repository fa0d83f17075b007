"""The IPython side.

Events, the input transformer, and magics that parse, call and render.
"""
