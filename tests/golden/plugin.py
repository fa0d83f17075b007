"""Rendered text in files next to this one, for people and for tests.

``pytest --update-golden`` writes them again; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def pytest_addoption(parser):
    """Add the option that writes the files."""
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files instead of comparing"
    )


@pytest.fixture
def golden(request):
    """Return a function that compares a text with the file of that name."""

    def compare(name: str, text: str) -> None:
        file = FOLDER / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            file.write_text(f"{text}\n", encoding="utf-8")
        assert f"{text}\n" == file.read_text(encoding="utf-8"), f"pytest --update-golden {file}"

    return compare
