"""Checks whether a training resumes from a checkpoint as if uninterrupted."""
