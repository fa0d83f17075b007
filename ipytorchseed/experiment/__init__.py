"""Cells run again: the state that they find, as copies, and how all is put back."""
