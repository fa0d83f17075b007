"""Verdicts for CI systems: JUnit XML, and annotations of GitHub Actions.

GitHub documents its workflow commands at
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from ipytorchseed.checking.report import explanation, headline, summary
from ipytorchseed.checking.verdict import Verdict
from ipytorchseed.render.text import visible


def as_junit(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as JUnit XML.

    A notebook that differs is a failure. A notebook that could not be checked is an error.

    Args:
        verdicts: The verdicts, in the order in which the notebooks were named.
    """
    broken = [each for each in verdicts if each.fault is not None]
    failed = [each for each in verdicts if each.exit_code == 1]
    suite = ET.Element(
        "testsuite",
        name="ipytorchseed check",
        tests=str(len(verdicts)),
        failures=str(len(failed)),
        errors=str(len(broken)),
        time=f"{sum(each.seconds for each in verdicts):.3f}",
    )
    for verdict in verdicts:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=visible(".".join(verdict.path.parent.parts)) or ".",
            name=visible(verdict.path.name),
            file=visible(str(verdict.path)),
            time=f"{verdict.seconds:.3f}",
        )
        if verdict.exit_code:
            kind = "failure" if verdict.fault is None else "error"
            told = ET.SubElement(case, kind, message=summary(verdict))
            told.text = explanation(verdict)
        elif said := explanation(verdict):
            ET.SubElement(case, "system-out").text = said
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def annotate(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield an annotation for each differing notebook; GitHub shows it at the file.

    Args:
        verdicts: The verdicts, in any order.
    """
    for verdict in verdicts:
        if not verdict.exit_code:
            continue
        title = _property(f"{visible(verdict.path.name)}: {headline(verdict)}")
        place = (
            f"file={_property(visible(verdict.path.as_posix()))},line={verdict.line},title={title}"
        )
        yield f"::error {place}::{_data(explanation(verdict))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
