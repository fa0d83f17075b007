"""Which files account for a change."""

from __future__ import annotations
