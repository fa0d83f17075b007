"""Calls of libraries that do not repeat, by the texts of cells and their reads."""

from __future__ import annotations

import pytest

from ipytorchseed.why.explain import explain
from ipytorchseed.why.explanation import Remedy
from ipytorchseed.why.planner import make_plan
from tests.render.explanations import AGAIN, START, States, number, run, value

SETUP = run(
    1,
    """
%matplotlib inline
import cv2, joblib, optuna, pyarrow as pa, random, umap, webdataset as wds, xgboost as xgb
import polars as pl
from gensim.models import Word2Vec
from scipy.sparse.linalg import eigsh
from sklearn.utils import shuffle
""",
)
FRAME = value("0f", "frame", "DataFrame 3 x 2")
STUDY = value("57", "object", "Study, 9 attributes")


def asked(source, *before, package, **more):
    """Explain a cell that was run twice with other results and no recorded difference."""
    more = {"packages": (package,), **more}
    made = [run(n, source, writes={"out": number(n)}, **more) for n in (8, 9)]
    return explain(made[1], made[0], made[:1], States([SETUP, *before, *made]))


def named(source, *before, package, **more):
    """Return kind and name of each cause."""
    told = asked(source, *before, package=package, **more)
    return [(cause.kind, cause.name) for cause in told.causes]


@pytest.mark.parametrize(
    ("package", "source", "name"),
    [
        ("gensim", "out = Word2Vec(texts, workers=2)", "operation gensim.Word2Vec"),
        ("gensim", "out = Word2Vec(texts)", "operation gensim.Word2Vec"),
        ("gensim", "out = Word2Vec(texts, workers=1)", ""),
        ("gensim", "out = Word2Vec(texts, workers=count())", ""),
        ("gensim", "out = Word2Vec(texts, **options)", ""),
        ("pyarrow", "out = pa.compute.random(9)", "entropy pyarrow.compute.random"),
        ("pyarrow", "out = pa.compute.random(9, initializer=1)", ""),
        ("umap", "%time out = 1\nout = umap.UMAP(n_neighbors=5).fit(x)", "operation umap.UMAP"),
        ("umap", "out = umap.UMAP(random_state=None).fit(x)", "operation umap.UMAP"),
        ("umap", "out = umap.UMAP(random_state=0).fit(x)", ""),
        ("umap", "out = umap.UMAP(random_state=seed).fit(x)", ""),
        ("joblib", "out = joblib.Parallel(n_jobs=-1)(jobs)", "operation joblib.Parallel"),
        ("joblib", "out = joblib.Parallel()(jobs)", ""),
        ("cv2", "out = cv2.kmeans(x, 3, None, c, 1, f)", "entropy cv2.kmeans"),
        ("cv2", "cv2.setRNGSeed(1)\nout = cv2.kmeans(x, 3, None, c, 1, f)", ""),
        ("scipy", "out = eigsh(m, k=2)", "entropy scipy.eigsh"),
        ("scipy", "out = eigsh(m, k=2, v0=v)", ""),
        ("webdataset", "out = wds.WebDataset(u).shuffle(9)", "entropy webdataset.shuffle"),
        ("webdataset", "out = wds.WebDataset(u).shuffle(9, seed=1)", ""),
        ("webdataset", "out = shuffle(rows)", ""),
        ("xgboost", "out = xgb.train({'booster': 'gblinear'}, d)", "operation xgboost.train"),
        ("xgboost", "o = {'updater': 'shotgun'}\nout = xgb.train(o, d)", "operation xgboost.train"),
        (
            "xgboost",
            "out = xgb.train({'booster': 'gblinear', 'updater': 'coord_descent'}, d)",
            "",
        ),
        ("xgboost", "out = xgb.train({'booster': 'gbtree'}, d)", ""),
        ("xgboost", "out = model.train(booster='gblinear')", ""),
    ],
)
def test_a_call_is_named_if_its_arguments_let_it_vary(package, source, name):
    """By the constants that it is given."""
    reads = {"model": value("40", "object", "Trainer, 3 attributes")}
    assert named(source, package=package, reads=reads) == ([(*name.split(),)] if name else [])


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("out = df.group_by('k').agg(total)", "operation polars.DataFrame.group_by"),
        ("out = df.lazy().group_by('k').agg(total)", "operation polars.DataFrame.group_by"),
        ("out = pl.read_csv(f).group_by('k').len()", "operation polars.DataFrame.group_by"),
        (
            "out = df.group_by('k', maintain_order=False).len()",
            "operation polars.DataFrame.group_by",
        ),
        ("out = df.group_by('k', maintain_order=True).len()", ""),
        ("out = df.sample(3)", "entropy polars.DataFrame.sample"),
        ("out = df.sample(3, seed=0)", ""),
        ("out = random.sample(items, 3)", ""),
        ("out = rng.sample(items, 3)", ""),
    ],
)
def test_a_method_is_named_on_objects_of_its_classes(source, name):
    """Methods of other objects may have its name."""
    reads = {"df": FRAME, "rng": value("a7", "rng", "random.Random")}
    assert named(source, package="polars", reads=reads) == ([(*name.split(),)] if name else [])


def test_a_study_with_threads_is_named_and_its_variable_count_known():
    """A variable tells how many there are."""
    reads = {"study": STUDY, "jobs": value("4a", "int", "4", series=(4.0,))}
    source = "study.optimize(f, n_jobs=jobs)"
    assert named(source, package="optuna", reads=reads) == [("operation", "optuna.Study.optimize")]
    reads["jobs"] = value("1a", "int", "1", series=(1.0,))
    assert named(source, package="optuna", reads=reads) == []


def test_the_cell_that_made_an_object_tells_its_arguments():
    """``reducer`` was made without a seed in another cell."""
    reads = {"reducer": value("4e", "object", "UMAP, 40 attributes")}
    for given, expected in (("", [("operation", "umap.UMAP")]), ("random_state=1", [])):
        made = run(2, f"reducer = umap.UMAP({given})", writes=reads)
        assert named("out = reducer.fit(x)", made, package="umap", reads=reads) == expected


def test_what_fixes_it_is_written_as_the_cell_calls_it():
    """And a command stays as it is."""
    (cause,) = asked("out = df.group_by('k').len()", package="polars", reads={"df": FRAME}).causes
    assert cause.message == (
        "`df.group_by()` without `maintain_order` adds up numbers and returns rows in any order"
    )
    assert cause.fix == "pass `maintain_order=True` to `df.group_by()`"
    (cause,) = asked("out = cv2.randu(a, 0, 1)", package="cv2").causes
    assert cause.fix == "%seed each 42"


def test_a_stream_that_was_seeded_before_the_cell_is_not_accused():
    """``%seed each`` reseeds it; threads race all the same."""
    seeds = ((42, "each"),)
    assert named("out = cv2.randu(a, 0, 1)", package="cv2", seeds=seeds) == []
    threads = named("out = umap.UMAP().fit(x)", package="umap", seeds=seeds)
    assert threads == [("operation", "umap.UMAP")]


def test_other_causes_come_first():
    """The call is cleared unless an experiment proves it."""
    source, packages = "out = umap.UMAP().fit(x)", ("numpy", "umap")
    made = [
        run(n, source, writes={"out": number(n)}, packages=packages, before={"numpy": begun},
            after={"numpy": AGAIN + str(n)})
        for n, begun in ((8, START), (9, AGAIN))
    ]  # fmt: skip
    told = explain(made[1], made[0], made[:1], States([SETUP, *made]))
    assert [cause.kind for cause in told.causes] == ["rng"]
    (cleared,) = [each for each in told.cleared if each.name == "umap.UMAP"]
    assert cleared.otherwise is not None


def test_nothing_is_named_for_a_package_that_the_cell_does_not_use():
    """Of the same text."""
    assert named("out = umap.UMAP().fit(x)", package="torch") == []


@pytest.mark.parametrize(
    ("asks", "source", "fix"),
    [
        (
            "gymnasium.spaces.Discrete.sample",
            "env.reset()\nout = env.action_space.sample()",
            "env.action_space.seed(42)",
        ),
        ("gymnasium.Env.reset", "out, _ = env.reset()", "pass `seed=42` to `env.reset()`"),
        ("albumentations.BasicTransform", "out = A.Compose([])", "pass `seed=42` to `A.Compose()`"),
        ("albumentations.BasicTransform", "out = A.Flip()", ""),
    ],
)
def test_a_call_without_a_seed_is_named_if_its_library_asked_for_entropy(asks, source, fix):
    """Not otherwise: its generator may have been seeded before."""
    package = asks.partition(".")[0]
    (cause,) = asked(source, package=package, nondeterministic_calls={asks: True}).causes
    assert (cause.kind, cause.fix) == ("entropy", fix)
    assert named(source, package=package) == []


def test_the_cell_that_made_a_sampler_without_a_seed_is_found():
    """The library seeds it when a later cell first uses it."""
    made = run(2, "study = optuna.create_study()")
    calls = {"optuna.Trial.suggest_float": True}
    (cause,) = asked(
        "study.optimize(f)", made, package="optuna", nondeterministic_calls=calls
    ).causes
    assert cause.name == "optuna.create_study"


def test_a_stream_that_cannot_be_read_is_named_by_the_call_that_draws():
    """Also if another cell seeded it."""
    draw = "out = cv2.kmeans(x, 3, None, c, 1, f)"
    seed = run(2, "cv2.setRNGSeed(1)", actions=("cv2.setRNGSeed",), packages=("cv2",))
    assert named(draw, seed, package="cv2") == [("entropy", "cv2.kmeans")]


SEED, DRAW = "cv2.setRNGSeed(1)", "out = cv2.kmeans(x, 3, None, c, 1, f)"


def history(*sources):
    """Return runs of cells that use OpenCV."""
    told = []
    for count, source in enumerate(sources, 2):
        writes = {"out": number(count)} if source == DRAW else {}
        actions = tuple(source.partition("(")[0].split()[-1:])
        told.append(run(count, source, writes=writes, actions=actions, packages=("cv2",)))
    return [SETUP, *told]


def test_a_stream_that_cannot_be_read_is_named_with_the_call():
    """Whichever cells seeded it or drew from it; there is no certain way back."""
    runs = history(SEED, DRAW, "noise = cv2.randn(y, 0, 1)", DRAW)
    told = explain(runs[-1], runs[2], runs[2:-1], States(runs), present=States(runs))
    assert [(cause.kind, cause.name) for cause in told.causes] == [("entropy", "cv2.kmeans")]
    obstacle = "In[3] calls `cv2.kmeans()`, which is different every time"
    assert told.remedy == Remedy(("%replay 3",), False, obstacle)


def test_a_cell_that_draws_from_it_is_not_run_again_for_an_input():
    """What it made cannot be made again."""
    runs = history(SEED, DRAW)
    reads = {"out": runs[-1].writes["out"]}
    target = run(8, "total = out * 2", reads=reads, writes={"total": number(6)})
    changed = run(9, "out = 1", writes={"out": number(1)})
    plan = make_plan(target, States([*runs, target, changed]))
    assert plan.blocked == (
        "In[3] has to run again, and calls `cv2.kmeans()`, which is different every time"
    )
