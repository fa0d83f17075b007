"""The verdicts of ``check --saved`` as text for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.checking.causes import tell
from ipytorchseed.checking.notebook import VARIES
from ipytorchseed.checking.saved import SavedCell, SavedVerdict
from ipytorchseed.checking.verdict import Found
from ipytorchseed.reads.entropy import say_programs
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.values import pick

# The most characters of a cell's text in its title.
LABEL = 68

# The most differences to show for a cell.
MOST = 4

_WORDS = {
    Found.SAME: "as saved",
    Found.ROUNDING: "off by rounding",
    Found.DIFFERENT: "different",
    Found.UNKNOWN: "never run in the file",
    Found.SKIPPED: "left out",
}


def words(verdict: SavedVerdict) -> tuple[str, str]:
    """Return the words for saved outputs that are still true, and for others."""
    if not verdict.cells:
        return "nothing saved", "differs"
    rounded = verdict.count(Found.ROUNDING)
    return "still true up to rounding" if rounded else "still true", "differs"


def summary(first: SavedCell) -> str:
    """Return in one line how the first differing cell differs."""
    return visible(f"{_name(first)} differs from what the file shows: {_what(first)}")


def _what(cell: SavedCell) -> str:
    told = next(each for each in cell.grades if each.found is Found.DIFFERENT)
    return f"{told.what}, {told.detail}"


def _name(cell: SavedCell) -> str:
    """Return a cell's number after *Run All*, and that in the file if it differs."""
    there = cell.saved_count
    same = there is None or there == cell.cell.count
    return cell.cell.name if same else f"{cell.cell.name} (In[{there}] in the file)"


def explain(verdict: SavedVerdict) -> Iterator[str]:
    """Yield the lines about cells; none if all saved outputs are still true."""
    path = visible(str(verdict.path))
    cells = [each for each in verdict.cells if isinstance(each, SavedCell)]
    told = [each for each in cells if each.grades or each.notes]
    unsaved = verdict.count(Found.UNKNOWN)
    if not told and not verdict.stale and not (verdict.cells and unsaved):
        return
    counts = ((found, verdict.count(found)) for found in _WORDS)
    said = ", ".join(f"{_WORDS[found]} {count}" for found, count in counts if count)
    yield f"{'✗ ' if verdict.first else ''}{path}"
    yield wrap(f"cells {said}", first="  ")
    for each in told:
        yield from _cell(each)
    yield from (wrap(visible(each.message), first="  ▲ ") for each in verdict.stale)
    if verdict.first is not None:
        yield from (wrap(each, first="  ") for each in _next_steps(verdict))


def _next_steps(verdict: SavedVerdict) -> Iterator[str]:
    """Yield why saved outputs may differ although it repeats, and what to run next."""
    if not verdict.in_order:
        yield "When it was saved, its cells had not been run once each, from top to bottom."
    places = [each.cell.name for each in verdict.cells if each.outputs is Found.UNKNOWN]
    if places:
        yield f"Never run in the file, but run here: {', '.join(places)}."
    yield "To check whether it repeats at all, run ipytorchseed check without --saved."


def _cell(cell: SavedCell) -> Iterator[str]:
    """Yield the lines about a cell: the saved and the fresh outputs, and the causes."""
    yield f"  {_name(cell)}  {label_of(cell.cell.source, LABEL)}"
    for each in cell.grades[:MOST]:
        differs = each.found is Found.DIFFERENT
        yield wrap(f"{each.what}: {each.detail}", first="    ")
        if differs and (each.saved or each.fresh):
            yield f"      file  {visible(each.saved) or '(nothing)'}"
            yield f"      now   {visible(each.fresh) or '(nothing)'}"
    if len(cell.grades) > MOST:
        yield f"    and {len(cell.grades) - MOST} more"
    if cell.expected and cell.outputs is Found.DIFFERENT:
        yield f"    it may differ: it has the tag {VARIES}"
    for note in cell.notes:
        yield wrap(note, first="    ")
    yield from tell(cell.causes)
    if cell.programs:
        yield wrap(f"the cell {say_programs(cell.programs)}", first="  ▲ ")


def more_json(cell: SavedCell) -> dict[str, object]:
    """Return the fields of a cell's JSON that only this check has."""
    return {
        "changes": [
            {
                **pick(each, "what", "detail", "saved"),
                "outputs": each.found.value,
                "now": each.fresh,
            }
            for each in cell.grades
        ],
        "notes": list(cell.notes),
    }
