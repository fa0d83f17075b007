"""Reads the content of objects and the owner of code without running user code."""
