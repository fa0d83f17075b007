"""Calls of libraries that do not repeat: threads that race, streams that nobody can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

THREADS, UNSEEDED = "operation", "entropy"
"""Kinds of causes: the order of threads decides, or numbers that no recorded source gives."""

UNKNOWN: Any = object()
"""Stands for an argument of which only the run knows the value."""

Arguments = Mapping[str, Any]
"""What a call is given by name, constants only; ``UNKNOWN`` for others."""


class Call(Struct, frozen=True):
    """A row: a call that does not repeat.

    Attributes:
        package: The package; a cell that does not use it is not asked.
        name: What is called, as one writes it behind the package: ``DataFrame.group_by``.
        kind: ``THREADS`` or ``UNSEEDED``.
        why: Why it does not repeat, behind the call in a sentence.
        fix: What makes it repeat.
        source: Where the library says so.
        varies: Returns whether it does not repeat with these arguments.
        on: Of a method, the classes that have it; empty for functions and classes.
        setter: The function that seeds the library's stream; empty if there is none.
    """

    package: str
    name: str
    kind: str
    why: str
    fix: str
    source: str
    varies: Callable[[Arguments], bool] = lambda _: True
    on: frozenset[str] = frozenset()
    setter: str = ""

    @property
    def tail(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


def _lacks(names: str, arguments: Arguments) -> bool:
    """Return whether none of some arguments is given, or only as None."""
    return all(arguments.get(name) is None for name in names.split())


def _is_off(name: str, arguments: Arguments) -> bool:
    return arguments.get(name, False) is False


def _is_parallel(name: str, usual: int, arguments: Arguments) -> bool:
    """Return whether more than one worker is asked for."""
    count = arguments.get(name, usual)
    return type(count) is int and count not in (0, 1)


def _is_shotgun(arguments: Arguments) -> bool:
    updater = arguments.get("updater", "shotgun" if "booster" in arguments else "")
    return bool(updater == "shotgun") and arguments.get("booster", "gblinear") == "gblinear"


_RACES = "trains with threads that overwrite each other's updates"
_TASKS = "runs tasks in workers, whose random streams start differently each time"
_TRIALS = "runs trials in threads, and which results a trial sees depends on their order"
_OPENCV = "draws from OpenCV's random stream, which cannot be read; `%seed 42` reseeds it"
_POLARS = "without `seed` draws from Polars' random stream, which cannot be read"
_FRAMES = frozenset({"DataFrame", "LazyFrame"})
_DOCS = {
    "cv2": "https://docs.opencv.org/4.x/d2/de8/group__core__array.html",
    "gensim": "https://radimrehurek.com/gensim/models/word2vec.html",
    "joblib": "https://joblib.readthedocs.io/en/stable/auto_examples/parallel_random_state.html",
    "optuna": "https://optuna.readthedocs.io/en/stable/faq.html",
    "polars": "https://docs.pola.rs/api/python/stable/reference/dataframe/api/polars.DataFrame.",
    "scipy": "https://docs.scipy.org/doc/scipy/reference/generated/scipy.sparse.linalg.",
    "umap": "https://umap-learn.readthedocs.io/en/latest/reproducibility.html",
    "webdataset": "https://github.com/webdataset/webdataset/blob/main/src/webdataset/filters.py",
    "xgboost": "https://xgboost.readthedocs.io/en/stable/parameter.html",
}

CALLS: tuple[Call, ...] = (
    *(
        Call("cv2", name, UNSEEDED, _OPENCV, "%seed each 42", _DOCS["cv2"], setter="setRNGSeed")
        for name in ("kmeans", "randn", "randu", "randShuffle")
    ),
    *(
        Call("gensim", name, THREADS, _RACES, "workers=1", _DOCS["gensim"],
             partial(_is_parallel, "workers", 3))
        for name in ("Doc2Vec", "FastText", "Word2Vec")
    ),
    Call("joblib", "Parallel", THREADS, _TASKS, "n_jobs=1",
         _DOCS["joblib"], partial(_is_parallel, "n_jobs", 1)),
    Call("optuna", "Study.optimize", THREADS, _TRIALS, "n_jobs=1", _DOCS["optuna"],
         partial(_is_parallel, "n_jobs", 1), frozenset({"Study"})),
    *(
        Call("polars", f"DataFrame.{name}", THREADS,
             "without `maintain_order` returns rows in any order", "maintain_order=True",
             f"{_DOCS['polars']}{name}.html", partial(_is_off, "maintain_order"), _FRAMES)
        for name in ("group_by", "unique")
    ),
    Call("polars", "DataFrame.sample", UNSEEDED, _POLARS, "seed=42",
         f"{_DOCS['polars']}sample.html", partial(_lacks, "seed"), _FRAMES, "set_random_seed"),
    *(
        Call("scipy", name, UNSEEDED, "without `v0` starts from a random vector", "v0=np.ones(n)",
             f"{_DOCS['scipy']}{name}.html", partial(_lacks, "v0"))
        for name in ("eigs", "eigsh", "svds")
    ),
    Call("umap", "UMAP", THREADS, "without `random_state` runs in threads that race",
         "random_state=42", _DOCS["umap"], partial(_lacks, "random_state")),
    Call("webdataset", "shuffle", UNSEEDED, "without `seed` seeds itself from the clock",
         "seed=42", _DOCS["webdataset"], partial(_lacks, "seed rng")),
    *(
        Call("xgboost", name, THREADS, "with the `shotgun` updater trains with threads that race",
             "updater='coord_descent'", _DOCS["xgboost"], _is_shotgun)
        for name in ("XGBClassifier", "XGBRegressor", "cv", "train")
    ),
)  # fmt: skip
"""Every call that does not repeat but the clocks and the entropy of ``reads.entropy``."""

NATIVE: dict[str, str] = {
    "annoy": "Annoy",
    "catboost": "CatBoost",
    "cv2": "OpenCV",
    "faiss": "Faiss",
    "gensim": "gensim",
    "igraph": "igraph",
    "jax": "JAX",
    "lightgbm": "LightGBM",
    "numba": "numba",
    "polars": "Polars",
    "pyarrow": "Arrow",
    "tensorflow": "TensorFlow",
    "umap": "UMAP",
    "xgboost": "XGBoost",
}
"""Packages that compute in native code, with threads or random streams that Python does not see,
and what people call them."""
