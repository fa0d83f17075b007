"""Links from reports to the documentation."""

from __future__ import annotations

import re

DOCS = "https://ipytorchseed.readthedocs.io/en/stable/"


def anchor(name: str) -> str:
    """Return the anchor of a heading: ``torch-num-threads`` for ``torch.num_threads``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def flag_page(name: str) -> str:
    """Return the address of the page that explains a flag."""
    return f"{DOCS}flags.html#{anchor(name)}"


def cause_page(kind: str, name: str = "") -> str:
    """Return the address of the page that explains a kind of cause, or a flag.

    Args:
        kind: The ``kind`` of a ``Cause``.
        name: The ``name`` of a ``Cause``.
    """
    from ipytorchseed.determinism.table import FLAGS  # slow to import; help texts need only DOCS

    known = kind == "flag" and any(flag.name == name for flag in FLAGS)
    return flag_page(name) if known else f"{DOCS}causes.html#{kind}"
