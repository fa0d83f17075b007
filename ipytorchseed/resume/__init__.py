"""Checks whether training resumes from a checkpoint as if uninterrupted."""
