"""Hostile text: control characters and markup in every field of a record."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import asdict

BIDIRECTIONAL = {*"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}

# Names that only an attacker would choose.
HOSTILE = st.text(
    st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Lu"]), min_size=1, max_size=8
) | st.sampled_from(
    [
        "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
        "\x1b[2J\x1b[31m",
        "\x9b31m",
        "\n::error file=x,line=1::injected",
        "\r##[error]injected",
        "\u202etxt.exe",
        "\ud800\x00\x08",
        "a\u2028b\x85c\x0bd",
    ]
)

# Fields with our keywords, which the views interpret.
_MEANT = {"kind", "status", "verdict", "known", "with_flags", "what", "standing"}


def unseen(text: str) -> set[str]:
    """Return the characters that can fool a terminal, a log or a reader."""
    return {
        letter
        for letter in text
        if letter != "\n"
        and (letter in BIDIRECTIONAL or unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"})
    }


def poisoned(value: Any, evil: str) -> Any:
    """Return a record with hostile text appended to each text in it, except digests."""
    if isinstance(value, str):
        return value if re.fullmatch(r"[0-9a-f]{8,}", value) else value + evil
    if isinstance(value, Path):
        return Path(f"{value}{evil}")
    if isinstance(value, Struct):
        fields = {
            name: each if name in _MEANT else poisoned(each, evil)
            for name, each in asdict(value).items()
        }
        return type(value)(**{name: fields[name] for name in value.__struct_fields__})
    if isinstance(value, Mapping):
        return {poisoned(name, evil): poisoned(each, evil) for name, each in value.items()}
    if isinstance(value, (tuple, list, frozenset)):
        return type(value)(poisoned(each, evil) for each in value)
    return value
