"""Addresses, clocks, caches and scratch memory are not content."""

from __future__ import annotations

import enum
import functools
import operator
import random
import sys
import types

import numpy as np
import pandas as pd
import pydantic
import pytest
import scipy.sparse
import sympy
import torch
from ipywidgets import IntSlider
from scipy.interpolate import UnivariateSpline
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_validate

from ipytorchseed.fingerprint import fingerprint, same
from ipytorchseed.introspection.anatomy import anatomy

X = np.linspace(0, 1, 30)
SEARCHED = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


def _loader(seed=0, size=8.0):
    torch.manual_seed(seed)
    data = torch.utils.data.TensorDataset(torch.arange(size))
    return iter(torch.utils.data.DataLoader(data, batch_size=2))


def _taken(loader):
    next(loader)
    return loader


def _spline(power=2, *, scratch=None):
    made = UnivariateSpline(X, X**power)
    if scratch is not None:
        made._data = (*made._data[:10], np.full(7, scratch), *made._data[11:])
    return made


def _scores(times, slope=1.0):
    found = cross_validate(LinearRegression(), X[:, None], np.cos(slope * X))
    return {**found, "fit_time": times, "score_time": times}


def _of_library(module, name):
    """Make an object of a library's class; only the name matters."""
    kind = type(name, (), {"__module__": module})
    there = sys.modules.setdefault(module, types.ModuleType(module))
    return vars(there).setdefault(name, kind)()


def _epoch(took, loss=0.5):
    return {"batches": [{"train_loss": loss}], "epoch": 1, "dur": took, "train_loss": loss}


def _model(scratch, summed=1.0, **kept):
    made = _of_library("statsmodels.genmod.generalized_linear_model", "GLM")
    made._tmp_like_exog, made.exog = scratch, summed
    results = _of_library("statsmodels.base.model", "Results")
    vars(results).update(kept, model=made)
    return results


def _compiled(*signatures, step=1, **options):
    """Make a function as numba compiles it.

    For each type of argument at its first call.
    """
    made = _of_library("numba.core.dispatcher", "Dispatcher")
    made.overloads = dict.fromkeys(signatures, object())
    made.py_func, made.targetoptions, made.locals = lambda x: x + step, options, {}
    return made


def _source(document, *column):
    """Make what a plot of Bokeh is drawn from, as a document has shown it."""
    made = _of_library("bokeh.model.model", "Model")
    made._id = f"p{id(made)}"
    made._document, made._property_values = document, {"data": {"x": [*column]}}
    return made


def _kept(module, name, **kept):
    made = _of_library(module, name)
    vars(made).update(kept)
    return made


def _recurrent(*, moved=False, size=2):
    """Make a layer that keeps its own lists of parameters."""
    made = torch.nn.GRU(2, size)
    with torch.no_grad():
        for each in made.parameters():
            each.fill_(1.0 + moved)
    return fingerprint(torch.nn.Sequential(made)).parts["inside"]


def _sparse(last):
    return scipy.sparse.csr_matrix(np.diag([1, last]))


def _asked(matrix):
    assert matrix.has_sorted_indices
    assert matrix.has_canonical_format
    return matrix


def _flags(*more, asked=()):
    """Define flags, and use some combinations."""
    made = enum.Flag("Options", ["FLIP", "CROP", "NOISE", *more])
    for each in asked:
        made(each)
    return made


_SETTINGS = """
from pydantic import BaseModel, computed_field, field_validator
class Settings(BaseModel):
    rate: float = {rate}
    @field_validator("rate")
    @classmethod
    def positive(cls, value):
        return value
    @computed_field
    @property
    def twice(self) -> float:
        return 2 * self.rate
"""


def _settings(rate, *, used):
    """Define a class of pydantic, whose objects fill it as they are used."""
    names = {"__name__": "__main__"}
    exec(_SETTINGS.format(rate=rate), names)  # noqa: S102 -- ours
    if used:
        made = names["Settings"](rate=3.0)
        made.rate = 4.0
        made.model_dump_json()
    return names["Settings"]


def _adapters():
    """Make what pydantic compiles of types."""
    return tuple(pydantic.TypeAdapter(each) for each in (list[int], list[int], list[str]))


CASES = {
    "combined flags": (_flags(), _flags(asked=(3, 5)), _flags("BLUR")),
    "class of settings": (
        _settings(0.1, used=False),
        _settings(0.1, used=True),
        _settings(0.2, used=True),
    ),
    "compiled types": _adapters(),
    "types": (list[int] | None, list[int] | None, list[str] | None),
    "layers": (_recurrent(), _recurrent(moved=True), _recurrent(size=3)),
    "study": tuple(
        _kept("optuna.study.study", "Study", study_name=name, direction=direction)
        for name, direction in (("no-name-1", 1), ("no-name-2", 1), ("no-name-1", 2))
    ),
    "trial": tuple(
        _kept("optuna.trial._frozen", "FrozenTrial", _datetime_start=when, _values=values)
        for when, values in ((1, 0.5), (2, 0.5), (1, 0.7))
    ),
    "word vectors": tuple(
        _kept("gensim.utils", "SaveLoad", total_train_time=took, vector_size=size)
        for took, size in ((0.1, 4), (0.2, 4), (0.1, 5))
    ),
    "shown": (_source(None, 1), _source(object(), 1), _source(None, 2)),
    "compiled": (_compiled(), _compiled("int64"), _compiled(step=2)),
    "options": (_compiled(), _compiled("int64"), _compiled(fastmath=True)),
    "scratch of a model": (_model(1.0), _model(2.0), _model(1.0, 2.0)),
    "summary": (_model(1.0), _model(1.0, diagn={"skew": 1.0}), _model(1.0, params=[1.0])),
    "epoch": (_epoch(1.0), _epoch(2.0), _epoch(1.0, 0.6)),
    "history": tuple(pd.DataFrame([row]) for row in (_epoch(1.0), _epoch(2.0), _epoch(1.0, 0.6))),
    "loader": (_loader(1), _loader(2), _taken(_loader(1))),
    "dataset": (_loader(1), _loader(2), _loader(1, 6.0)),
    "getter": (operator.attrgetter("a.b"), operator.attrgetter("a.b"), operator.attrgetter("a")),
    "item": (operator.itemgetter(1), operator.itemgetter(1), operator.itemgetter(2)),
    "caller": (
        operator.methodcaller("f", 1, k=2),
        operator.methodcaller("f", 1, k=2),
        operator.methodcaller("f", 1, k=3),
    ),
    "assumed": (sympy.Symbol("x"), sympy.Symbol("x"), sympy.Symbol("x", positive=True)),
    "styler": tuple(
        pd.DataFrame({"a": [1.0, last]}).style.format("{:.1f}") for last in (2.0, 2.0, 3.0)
    ),
    "widget": (IntSlider(3), IntSlider(3), IntSlider(4)),
    "spline": (_spline(scratch=1.0), _spline(scratch=2.0), _spline(3)),
    "scores": (_scores(1.0), _scores(2.0), _scores(1.0, 2.0)),
    "table of scores": (
        pd.DataFrame(_scores(1.0)),
        pd.DataFrame(_scores(2.0)),
        pd.DataFrame(_scores(1.0, 2.0)),
    ),
    "search": tuple(
        {**dict.fromkeys(SEARCHED, time), "mean_test_score": score}
        for time, score in ((1.0, 0.5), (2.0, 0.5), (1.0, 0.6))
    ),
    "times of one's own": ({"fit_time": 1.0}, {"fit_time": 1.0}, {"fit_time": 2.0}),
    "found out about a sparse matrix": (_sparse(1), _asked(_sparse(1)), _sparse(2)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_phantom_is_the_same_and_a_change_beside_it_is_not(name):
    """The first two differ by what is no content, the third by content."""
    first, again, other = map(fingerprint, CASES[name])
    assert same(first, again) is True or (first.opaque and first.digest == again.digest)
    assert first.digest != other.digest


class Column(pd.Series):
    """A subclass, whose attributes count."""


def test_what_a_series_is_plotted_by_is_no_content_of_it():
    """Pandas before version 3 keeps it in the object at the first look."""
    made = Column([1.0, 2.0])
    before = fingerprint(made)
    vars(made)["plot"] = made.plot
    assert same(before, fingerprint(made)) is True
    object.__setattr__(made, "unit", "m")
    assert same(before, fingerprint(made)) is False


def test_what_an_expression_found_out_about_itself_is_no_content():
    """Hashes and assumptions are kept by sympy as they are asked for."""
    x, y = sympy.symbols("fresh_x fresh_y")
    made = sympy.sin(x) ** 2 + y
    before = fingerprint(made)
    hash(made), made.is_positive, made.is_real, made.diff(x).simplify()
    assert same(before, fingerprint(made)) is True
    assert same(before, fingerprint(sympy.sin(x) ** 3 + y)) is False


def test_an_evaluator_of_expressions_is_not_read_through():
    """It holds all of numpy's functions, and each parameter of lmfit's holds one."""
    first, again = (_of_library("asteval.asteval", "Interpreter") for _ in range(2))
    first.symtable, again.symtable = {"sin": np.sin}, {"cos": np.cos}
    first.code_text, again.code_text = [], ["x + 1"]
    first.no_deepcopy, again.no_deepcopy = ["a", "b"], ["b", "a"]  # from a set
    first.readonly_symbols, again.readonly_symbols = {"a"}, {"a"}
    assert same(fingerprint(first), fingerprint(again)) is True


def test_members_of_classes_in_c_that_are_addresses_are_not_read():
    """Functions of Cython have one where Python finds their pointer."""
    function = pd._libs.lib.infer_dtype
    names = [name for name, _ in anatomy(type(function)).attributes(function)]
    assert not {"__vectorcalloffset__", "__dictoffset__", "__weaklistoffset__"} & {*names}


@pytest.mark.parametrize(
    ("held", "draw"),
    [
        (lambda: functools.partial(random.randint, 0, 9), random.random),
        (lambda: [random.shuffle], random.random),
        (lambda: {"random_state_": np.random.mtrand._rand}, np.random.random),
        (lambda: [np.random.normal], np.random.random),
        (lambda: [torch.default_generator], lambda: torch.rand(1)),
    ],
    ids=["partial", "method", "numpy", "function", "torch"],
)
@pytest.mark.usefixtures("put_back")
def test_where_a_source_stands_is_no_content_of_what_holds_it(held, draw):
    """It belongs to the source: a value that leads to it is the same after a draw."""
    before = fingerprint(held())
    draw()
    after = fingerprint(held())
    assert same(before, after) is True
    assert before.parts == after.parts


def test_where_a_generator_of_the_users_stands_is_told():
    """Unlike that of a source."""
    held = random.Random(0)
    before = fingerprint([held])
    held.random()
    assert fingerprint([held]).parts["random"] != before.parts["random"]


@pytest.mark.parametrize("dtype", ["str", "int64[pyarrow]", "bool[pyarrow]"])
def test_how_a_column_of_arrow_lies_in_memory_is_no_content(dtype):
    """In pieces, as a part of a longer one, with or without marks of what is missing."""
    items = {"str": ["a", "bc", "d"], "bool[pyarrow]": [True, False, True]}.get(dtype, [1, 2, 3])
    column = pd.Series(items, dtype=dtype)
    beside = pd.Series(items[::-1], dtype=dtype)
    alike = [
        column[[0, 1, 2]],
        pd.concat([column, beside])[:3],
        pd.concat([beside, column], ignore_index=True)[3:].reset_index(drop=True),
        pd.concat([column[:1], column[1:]]),
    ]
    assert all(same(fingerprint(column.array), fingerprint(each.array)) for each in alike)
    assert not same(fingerprint(column.array), fingerprint(column[:2].array))
    column[1] = None
    assert not same(fingerprint(column.array), fingerprint(alike[0].array))
    assert same(fingerprint(column.array), fingerprint(pd.concat([column[:2], column[2:]]).array))


@pytest.mark.parametrize("count", [2, 100, *range(500, 560, 5), 5_000])
def test_how_many_pieces_a_column_lies_in_is_no_content(count):
    """Few bytes are copied, more are looked at where they lie.

    Both tell the same of both.
    """
    texts = pd.Series([f"v{number}" for number in range(count)], dtype="string[pyarrow]")
    joined = pd.concat([texts[: count // 2], texts[count // 2 :]])
    assert fingerprint(joined).digest == fingerprint(texts).digest
