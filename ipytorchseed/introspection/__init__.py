"""Reads what objects hold, and whose code is whose, without running code of the user's."""
