"""Whether a file that a command is to replace is one that it may have written."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from ipytorchseed.patterns import lazy_pattern

_HEAD = 4096
"""Bytes of a file that are looked at."""

_JUNIT = lazy_pattern(
    r"\A\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<testsuites?[\s/>]", re.DOTALL
)

_PAGE = "<title>Two traces compared</title>"


def is_receipt(path: Path) -> bool:
    """Return whether a file is a receipt."""
    from ipytorchseed.receipts.reading import is_receipt

    return is_receipt(path)


def is_junit(path: Path) -> bool:
    """Return whether a file is a JUnit report, by any program."""
    return _JUNIT.match(_head(path)) is not None


def is_page(path: Path) -> bool:
    """Return whether a file is a page that compares two traces."""
    return _PAGE in _head(path)


def _head(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_HEAD).decode("utf-8", "replace")
    return ""
