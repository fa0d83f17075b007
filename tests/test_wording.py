"""The check of wording finds what its list rejects, and only there."""

import json
from pathlib import Path

import pytest

from tests import wording

RULES = wording.read_rules(wording.LIST.read_text("utf-8"))._replace(
    allowed={"wording": [], "width": []}
)
WORDS = ["hang", "on"]  # joined below: this file is checked too
BANNED = " ".join([WORDS[0] + "s", WORDS[1]])


@pytest.fixture
def find(tmp_path):
    """Return what is found in a file of a given name."""

    def find(text, name="module.py"):
        (tmp_path / name).write_text(text, "utf-8")
        prose = wording.prose_of(tmp_path / name)
        found = [
            *wording.findings_in(Path(name), prose, RULES),
            *wording.long_lines_in(Path(name), prose, RULES),
        ]
        return [(each.line, each.words) for each in found]

    return find


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f'"""It {BANNED} it."""', 1),
        (f'def f():\n    """Do it.\n\n    It {BANNED} it."""', 4),
        (f"x = 1\n# it {BANNED} it", 2),
        (f"x = 1  # it {BANNED} it", 1),
        (f'x = 1\nraise ValueError(f"{{x}} {BANNED} it")', 2),
    ],
    ids=["module", "function", "comment", "trailing", "message"],
)
def test_each_kind_of_text_is_read(find, text, line):
    """With the line where it is."""
    assert find(text) == [(line, BANNED)]


@pytest.mark.parametrize("name", ["page.md", "page.rst", "settings.toml"])
def test_pages_are_read(find, name):
    """And so are the comments of settings."""
    assert find(f"One line.\nIt {BANNED} it.\n", name) == [(2, BANNED)]


def test_notebooks_are_read_in_their_markdown(find):
    """Code cells are the user's."""
    code, page = ({"cell_type": kind, "source": [BANNED]} for kind in ("code", "markdown"))
    assert find(json.dumps({"cells": [code]}), "book.ipynb") == []
    assert find(json.dumps({"cells": [code, page]}), "book.ipynb") == [(1, BANNED)]


def test_words_are_found_across_lines(find):
    """In a docstring and in adjacent comments."""
    first, second = BANNED.split()
    assert find(f'"""It {first}\n{second} it."""') == [(1, BANNED)]
    assert find(f"# it {first}\n# {second} it") == [(1, BANNED)]


def test_names_and_code_are_not_read(find):
    """A name may hold any word."""
    assert find(f"{BANNED.replace(' ', '_')} = 1") == []


@pytest.mark.parametrize("verb", ["Tell", "Say", "Note", "Have"])
def test_a_docstring_begins_with_a_plain_verb(find, verb):
    """The same words may come later."""
    assert find(f'"""{verb} what it is."""') == [
        (1, verb.split()[0] if verb != "Tell whether" else verb)
    ]
    assert find(f'"""Return it. {verb} what it is."""') == []


def test_the_first_line_of_a_docstring_is_short(find):
    """80 characters; later lines may fill the width of the file."""
    assert find(f'"""{"x" * 80}\n\n{"x" * 90}\n"""') == []
    assert len(find(f'"""{"x" * 81}"""')) == 1


def test_a_scenario_is_read_to_its_first_cell(find):
    """Its cells hold magics, which are no Python."""
    assert find(f'"""It {BANNED} it."""\n# %% a\n%why\n') == [(1, BANNED)]


def test_each_rule_says_what_to_write():
    """One line each."""
    for rule in RULES.wordings:
        assert rule.where in {"anywhere", "code", "docstring"}
        assert rule.instead.strip()
