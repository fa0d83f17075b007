"""Verdicts as GitHub Actions shows them beside the changed files.

The form of a workflow command:
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.checking.report import explanation, headline
from ipytorchseed.render.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ipytorchseed.checking.verdict import Verdict


def annotate(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Write a line for each notebook that does not repeat.

    Args:
        verdicts: What was found.
    """
    for verdict in verdicts:
        if not verdict.exit_code:
            continue
        line = verdict.line if verdict.first is None else verdict.first.line
        title = _property(f"{visible(verdict.path.name)}: {headline(verdict)}")
        place = f"file={_property(visible(verdict.path.as_posix()))},line={line},title={title}"
        yield f"::error {place}::{_data(explanation(verdict))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
