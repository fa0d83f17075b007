"""The code of the README and of ``docs/`` runs, and prints what they show."""

import re
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ipytorchseed.cli import main
from tests.forking import forking
from tests.kernel import Kernel

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page):
    """Return a page's blocks of code, in order, as (language, text)."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def blocks():
    """The blocks of code of all pages."""
    return [block for page in PAGES for block in blocks_of(page)]


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: page.stem)
def replies(request, tmp_path_factory):
    """The kernel's reply to each python block, with the text block that follows."""
    found = [*blocks_of(request.param), ("", "")]
    cells = [
        (code, after if language == "text" else None)
        for (kind, code), (language, after) in pairwise(found)
        if kind == "python"
    ]
    if not cells:
        return []
    with Kernel(tmp_path_factory.mktemp("page")) as kernel:
        return [(code, kernel.run(code), after) for code, after in cells]


def shown(reply):
    """Join all that a cell printed or displayed as text."""
    return "\n".join([reply.stdout, *(each["text/plain"] for each in reply.displays)])


def test_every_block_runs(replies):
    """No block fails."""
    assert [code for code, reply, _ in replies if reply.status != "ok"] == []


def test_there_are_blocks_to_run(blocks):
    """Otherwise nothing here would be tested."""
    assert sum(kind == "python" for kind, _ in blocks) > 15


def test_the_first_cell_of_the_tour_repeats(blocks, tmp_path):
    """It gives one loss, also in another kernel and after other draws."""
    load = "%load_ext ipytorchseed"
    cell = next(code for _, code in blocks if code.startswith("%%deterministic 42\nimport torch"))
    losses = set()
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Kernel(folder) as kernel:
            kernel.run(load)
            for other in ("", "import torch; torch.rand(5)"):
                kernel.run(other)
                losses.add(kernel.run(cell).results[0]["text/plain"])
    assert len(losses) == 1
    assert float(losses.pop()) > 0


def test_what_the_readme_shows_is_what_is_printed(replies):
    """Each line of a text block is in what the block before it printed, in this order."""
    for code, reply, expected in replies:
        if expected is not None:
            printed = [line.rstrip() for line in shown(reply).splitlines()]
            here = iter(printed)
            missing = [line for line in expected.splitlines() if line.rstrip() not in here]
            assert not missing, f"after\n{code}\nprinted:\n" + "\n".join(printed)


def test_the_two_commands_are_make_targets():
    """What the README tells a newcomer to type exists."""
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command


# --------------------------------------------------------------------------------------------------
# What is typed in a shell


def commands(blocks):
    """Return what the README types in a shell or lets a CI system type, word by word."""
    lines = [
        line.strip().removeprefix("- run: ").partition("  #")[0]
        for kind, code in blocks
        if kind in {"sh", "yaml"}
        for line in code.splitlines()
    ]
    return [line.split() for line in lines if line.startswith("ipytorchseed ")]


def test_every_command_exists_with_its_options(blocks):
    """No word that the command line would refuse."""
    found = commands(blocks)
    assert len(found) > 5
    for _, *words in found:
        command = main
        while isinstance(command, click.Group):
            command = command.commands[words.pop(0)]
        command.make_context(command.name, words)


def test_what_a_check_shows_is_what_is_printed(blocks, monkeypatch):
    """Each line of the text block after a check is in what it printed, in this order."""
    monkeypatch.chdir(README.parent)
    followed = [
        (code.split()[1:], after)
        for (kind, code), (language, after) in pairwise(blocks)
        if kind == "sh" and code.startswith("ipytorchseed check") and language == "text"
    ]
    assert len(followed) == 3
    for words, expected in followed:
        with nullcontext() if "--diff" in words else forking():  # forks share the seed of hashes
            done = CliRunner().invoke(main, [*words, "-j", "2"], env={"GITHUB_ACTIONS": None})
        printed = done.stdout
        here = iter(map(without_numbers, printed.splitlines()))
        missing = [line for line in expected.splitlines() if without_numbers(line) not in here]
        assert not missing, printed


def without_numbers(line):
    """Return a line without its numbers and the blanks between its words."""
    return re.sub(r"(?<!\[)\b[\d.]+\b(?! x)", "N", " ".join(line.split()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    """To a file of this repository, and a heading of it where one is named."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in link:
            file, _, heading = link.partition("#")
            target = page.parent / file if file else page
            assert target.exists(), link
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            known = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert not heading or heading in known, link


def test_the_readme_is_short():
    """A newcomer reads it whole."""
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_every_notebook_of_the_gallery_is_named():
    """And no link leads nowhere."""
    gallery = README.parent / "notebooks" / "gallery"
    named = re.findall(r"\(notebooks/gallery/(\w+\.ipynb)\)", README.read_text(encoding="utf-8"))
    assert sorted(named) == sorted(path.name for path in gallery.glob("*.ipynb"))


def test_the_hook_that_is_shown_is_the_hook_there_is(blocks):
    """pre-commit finds it by its id."""
    hooks = (README.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (named,) = [
        found
        for kind, code in blocks
        if kind == "yaml"
        for found in re.findall(r"^      - id: (\S+)$", code, re.MULTILINE)
    ]
    assert f"- id: {named}\n" in hooks
