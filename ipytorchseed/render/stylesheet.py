"""The one stylesheet: static HTML carries it, and the inspector adds to it."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """Return the style of everything that we show in a notebook, as small as it gets."""
    return squeeze((files("ipytorchseed.render") / "templates" / "its.css").read_text("utf-8"))


def squeeze(css: str) -> str:
    """Take comments and needless blanks out of a stylesheet, as each output carries a copy."""
    bare = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    tight = re.sub(r"\s*([{};,>])\s*", r"\1", re.sub(r"\s+", " ", bare))
    return tight.replace(": ", ":").replace(";}", "}").strip()
