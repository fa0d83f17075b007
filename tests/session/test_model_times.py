"""The times of a model selection, in everything that shows one: taken out, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ipytorchseed.session.model_times import without_model_times


def table(seed, score=0.5):
    """Return what a search keeps, with times of its own."""
    rng = np.random.default_rng(seed)
    took = rng.random((3, 3)) * 10.0 ** rng.integers(-3, 3)
    return pd.DataFrame(
        {
            "mean_fit_time": took[0],
            "std_fit_time": took[1],
            "param_C": [0.1, 1.0, 10.0],
            "params": [{"C": 0.1}] * 3,
            "mean_score_time": took[2],
            "split0_test_score": [0.25, score, 0.75],
        }
    )


SHOWN = {
    "a table": repr,
    "its HTML": lambda table: table._repr_html_(),
    "turned": lambda table: repr(table.T),
    "turned, in HTML": lambda table: table.T._repr_html_(),
    "without an index": lambda table: table.to_string(index=False),
    "all of it": lambda table: table.to_string(),
    "means": lambda table: repr(table.mean(numeric_only=True)),
    "summed up": lambda table: table.describe().to_string(),
    "arrays": lambda table: repr({name: column.to_numpy() for name, column in table.items()}),
    "lists": lambda table: repr(table.to_dict("list")),
    "numbers": lambda table: repr(dict(table.iloc[1])),
}


@pytest.mark.parametrize("show", SHOWN.values(), ids=SHOWN)
def test_times_are_taken_out_and_nothing_else(show):
    """However the numbers beside them are laid out; a score is no time."""
    one, two, other = (
        without_model_times(show(each)) for each in (table(1), table(2), table(1, 0.625))
    )
    assert one == two
    assert one != other


@pytest.mark.parametrize(
    "text",
    [
        "fit_times 0.5",
        "a_fit_time 0.5",
        "time 0.5",
        "<table><tr><td>fit_time</td></tr>",
        "profit_time\n0.5",
    ],
)
def test_other_words_stay(text):
    """Only what scikit-learn calls so is taken for it."""
    assert without_model_times(text) == text


@pytest.mark.parametrize(
    "part", ["fit_time ", "<table> fit_time ", "'fit_time': [", "<tr> fit_time"]
)
def test_long_texts_are_quick(part):
    """Time grows with the text, and not with its square: this would take hours."""
    without_model_times(part * (400_000 // len(part)))


LOG = """\
  epoch    train_loss    valid_acc    cp     dur
-------  ------------  -----------  ----  ------
      1        \x1b[36m0.6872\x1b[0m       0.{acc}     +  {dur}
      2        0.6870       0.6000        {dur}
after
3 of them in 5 minutes, or {dur}
"""


def test_how_long_epochs_took_is_taken_out_of_a_log_of_them():
    """Its last column, as skorch prints it; what is printed below it stays."""
    one, two, other = (
        without_model_times(LOG.format(acc=acc, dur=dur))
        for acc, dur in (("6000", "0.0174"), ("6000", "10.0230"), ("6050", "0.0174"))
    )
    assert one.split("\n")[:5] == two.split("\n")[:5] != other.split("\n")[:5]
    assert "or 0.0174" in one


def test_other_tables_with_a_duration_stay():
    """A column of a user's own is no time of a fit."""
    text = "  name     dur\n------  ------\n     1  0.0174"
    assert without_model_times(text) == text


ROW = """<tr class="default">
  <td class="param"><a style="anchor-name: --doc-link-{name};">
    {name}
    <span>{name}: in ``cv_results_``</span></a></td>
  <td class="fitted-att-type">float</td>
  <td>{value}</td>
</tr>
"""


def _diagram(took, found=0.5):
    rows = ("refit_time_", took), ("cv_results_", f"{{me...me: [{took}]}}"), ("best_score_", found)
    drawn = (ROW.format(name=name, value=value) for name, value in rows)
    return f"<table>{''.join(drawn)}</table>"


def test_times_are_taken_out_of_a_diagram_of_a_search():
    """As scikit-learn draws it from version 1.9 on, with what fits found; a score stays."""
    one, two, other = map(without_model_times, (_diagram(1.25), _diagram(2.5), _diagram(1.25, 0.6)))
    assert one == two
    assert one != other
    assert "best_score_" in one
