"""The README's code runs as written, and prints what it says."""

import re
from pathlib import Path

import pytest

from tests.kernel import Kernel

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def blocks():
    """The README's blocks of code, in order, as (language, text)."""
    return BLOCK.findall(README.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def replies(blocks, tmp_path_factory):
    """What a kernel answered to each python block, with the text block that follows it, if any."""
    followed = zip(blocks, [*blocks[1:], ("", "")], strict=True)
    with Kernel(tmp_path_factory.mktemp("readme")) as kernel:
        return [
            (code, kernel.run(code), after if language == "text" else None)
            for (kind, code), (language, after) in followed
            if kind == "python"
        ]


def shown(reply):
    """Join all that a cell printed or displayed as text."""
    return "\n".join([reply.stdout, *(each["text/plain"] for each in reply.displays)])


def test_every_block_runs(replies):
    """No block fails."""
    assert [code for code, reply, _ in replies if reply.status != "ok"] == []
    assert len(replies) > 8


def test_the_first_screen_repeats(blocks, tmp_path):
    """The cell of the first screen gives one loss, also in another kernel and after other draws."""
    load, cell = [code for kind, code in blocks if kind == "python"][:2]
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
    """Each line of a text block stands in what the block before it printed, in this order."""
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
