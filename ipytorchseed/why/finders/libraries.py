"""Finds settings of a library or of the process that differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ipytorchseed.determinism import libraries
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause, Cleared
from ipytorchseed.why.finders.changers import find_setter
from ipytorchseed.why.words import first_of

_TOLD = 3

_CATCHES = lazy_pattern(r"\bexcept\b|\bsuppress\(|\bcatch_warnings\(")
"""Text of code that goes on after an error, or hears warnings, and may answer otherwise then."""

_LOCAL_TIMES = lazy_pattern(
    r"\b(fromtimestamp|localtime|mktime|ctime|astimezone|tzlocal)\b|\.timestamp\("
)
"""Text of code that makes times of seconds, or seconds of times, by the clock on the wall."""


def find_libraries(case: Evidence, others: bool) -> Iterator[Cause | Cleared]:  # noqa: FBT001
    """Find the settings of libraries that differ and can act on what the cell did.

    Args:
        case: The evidence.
        others: Whether another cause was found: how numbers are shown is then no cause as well.
    """
    before, after = case.against.settings, case.run.settings
    shown = not others and _shows_other_text(case)
    figures = shown or not (others or case.uses("torch"))  # its sizes and colours are numbers
    acts_on = {
        libraries.NUMBERS: True,
        libraries.TEXT: shown,
        libraries.FIGURES: figures,
        libraries.RIGHTS: not others,
        libraries.LOCAL_TIMES: shown or any(map(_LOCAL_TIMES.search, case.texts())),
        libraries.ERRORS: case.against.error != case.run.error
        or (not others and any(map(_CATCHES.search, case.texts()))),
    }
    for name, setting in libraries.BY_NAME.items():
        if name not in before or name not in after or before[name] == after[name]:
            continue
        if (acts_on[setting.acts_on] and _is_used(case, setting)) or _is_asked(case, setting):
            yield _cause(case, setting, before[name], after[name])
        else:
            yield Cleared("flag", name, f"acts on {setting.acts_on} only")


_DRAWS = lazy_pattern(
    r"\b(?:plt|pyplot|pylab|sns|seaborn|px)\b"
    r"|\.(?:plot|hist|box|boxplot|scatter|bar|barh|show|draw|savefig|imshow|plot_\w+|set_\w+)\b"
    r"|[Pp]lot|[Ff]igure|[Dd]raw|\bstyle\b|\brc\w*\b|Display\b"
)
"""Text of cells that draw figures, or look into one."""


def _is_used(case: Evidence, setting: libraries.Setting) -> bool:
    """Tell whether the cell uses the package, or displays something that another drew with it."""
    draws = setting.acts_on != libraries.FIGURES or any(map(_DRAWS.search, case.texts()))
    used = draws and (not setting.through or case.uses(setting.package))
    return used or any(change.what == "display" for change in case.changed)


def _is_asked(case: Evidence, setting: libraries.Setting) -> bool:
    """Tell whether the cell, or a function that it reaches, asks for a setting itself."""
    return bool(setting.asked) and any(re.search(setting.asked, each) for each in case.texts())


def _shows_other_text(case: Evidence) -> bool:
    """Tell whether something that is text, or is shown, differs."""
    texts = {name for name, value in case.run.writes.items() if value.kind in ("str", "text")}
    return any(change.what != "variable" or change.name in texts for change in case.changed)


def _cause(case: Evidence, setting: libraries.Setting, before: Any, after: Any) -> Cause:  # noqa: ANN401
    blame = tuple(Blame(run, "set it") for run in find_setter(case, setting.name))
    message = f"{setting.name}: {_step(before, after)}"
    message += case.doings(blame)
    fix = setting.statement(before, after) if setting.restore else ""
    return Cause("flag", setting.name, message, fix=fix, blame=blame)


def _step(before: Any, after: Any) -> str:  # noqa: ANN401 -- JSON values
    """Describe the change of a setting; of several values, those that differ."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return f"{before} → {after}"
    pairs = {n: (before.get(n, "unset"), after.get(n, "unset")) for n in sorted(before | after)}
    said = [f"{name} {was} → {now}" for name, (was, now) in pairs.items() if was != now]
    return first_of(said, _TOLD)
