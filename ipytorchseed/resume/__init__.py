"""Checks whether a resumed training run equals an uninterrupted one."""
