"""Which series that changed are drawn as curves."""

from __future__ import annotations

import pytest

from ipytorchseed.render.curves import charted
from ipytorchseed.why.explanation import Change

LOSSES = (1.5, 0.7, 0.4, 0.3, 0.2), (1.5, 0.8, 0.6, 0.5, 0.4)
RATES = (0.1, 0.2, 0.3, 0.25, 0.1), (0.1, 0.3, 0.4, 0.35, 0.2)
LABELS = (0.0, 3.0, 1.0, 2.0, 1.0), (1.0, 3.0, 1.0, 0.0, 0.0)


def _printed(*columns):
    """Return the numbers of printed lines with these columns, as one series."""
    return tuple(number for line in zip(*columns, strict=True) for number in line)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ([Change("variable", "losses", "", *LOSSES)], ["losses"]),
        ([Change("variable", "labels", "", *LABELS)], []),
        ([Change("variable", "x", "", *RATES), Change("variable", "val_loss", "", *LOSSES)],
         ["val_loss", "x"]),
        ([Change("variable", str(n), "", *([n + x for x in each] for each in LOSSES))
          for n in range(5)], ["0", "1", "2"]),
        ([Change("variable", "losses", "", *LOSSES), Change("variable", "x", "", *LOSSES),
          Change("stdout", "", "", *([x + 1e-6 for x in each] for each in LOSSES))], ["losses"]),
        ([Change("variable", "losses", "", *(each[:4] for each in LOSSES))], []),
        ([Change("variable", "x", "", (0.5,) * 5_000, (0.6,) * 5_000)], []),
        ([Change("variable", "x", "", (0.5,), (0.6,))], []),
        ([Change("stdout", "", "", *LOSSES)], ["printed"]),
        ([Change("stdout", "", "", *(_printed(range(5), each) for each in LOSSES))],
         ["printed, column 2"]),
        ([Change("stdout", "", "", *(_printed(range(1, 6), (10,) * 5, each) for each in LOSSES))],
         ["printed, column 3"]),
        ([Change("stdout", "", "", *((*_printed(range(5), each), 0.1) for each in LOSSES))], []),
    ],
)  # fmt: skip
def test_what_a_person_would_plot(changes, names):
    """At most three series, metrics first, each once.

    Labels, counters, data and short series are not drawn.
    """
    assert [name for name, _ in charted(changes)] == names


def test_a_printed_column_has_its_numbers():
    """The counter in the column before it is not drawn."""
    change = Change("stdout", "", "", *(_printed(range(5), each) for each in LOSSES))
    assert [(tuple(before), tuple(after)) for _, (before, after) in charted([change])] == [LOSSES]
