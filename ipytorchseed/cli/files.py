"""Recognizes files that a command may overwrite, because it may have written them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

# Bytes of a file that are read.
_HEAD = 4096


def is_receipt(path: Path) -> bool:
    """Return whether a file is a receipt."""
    from ipytorchseed.receipts.reading import is_receipt

    return is_receipt(path)


def is_junit(path: Path) -> bool:
    """Return whether a file is a JUnit report, by any program."""
    text = _head(path).lstrip("\ufeff").lstrip()
    while text.startswith(("<?", "<!--")):
        text = text.partition("?>" if text.startswith("<?") else "-->")[2].lstrip()
    words = text.partition(">")[0].split()
    return bool(words) and words[0].rstrip("/") in {"<testsuite", "<testsuites"}


def _head(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_HEAD).decode("utf-8", "replace")
    return ""
