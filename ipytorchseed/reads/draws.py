"""Whether a cell may draw from torch itself, as far as its names and values tell.

A ``DataLoader`` that does not shuffle draws all the same: each pass takes two numbers from
``torch.cpu`` as a seed for its workers, and where it has none, nobody uses them
(``_BaseDataLoaderIter``, torch/utils/data/dataloader.py). Where nothing else may have drawn,
results do not hang on that source.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import (
    attributes,
    module_of_class,
    mro,
    name_of_class,
)
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.reads.effects import Effects

# Too many rather than too few: a source that is not passed over is named as a cause.
_DRAWS = frozenset(
    {"rand", "randn", "randint", "randperm", "random", "dropout", "dropout1d", "dropout2d"}
    | {"dropout3d", "bernoulli", "multinomial", "normal", "uniform", "poisson", "exponential"}
    | {"geometric", "cauchy", "gumbel", "sample", "rsample", "shuffle", "binomial", "rrelu"}
    | {"orthogonal", "sparse", "permutation", "compile"}
)
"""Words in the last parts of names of torch's functions and methods that draw."""

_DRAW_TOO = ("reset_parameters", "scaled_dot_product_attention")

HEEDED = ("grad", "frozen", "mode", "draws", "rates")
"""What results may depend on: gradients that are there, and not cleared; whether parameters are
frozen; the mode in which it finds modules; what is drawn from torch, and not replaced by weights
that are loaded; the rates of layers that matter in training only."""

_GRADIENTS = frozenset(
    {"backward", "step", "grad", "zero_grad", "clip_grad_norm_", "clip_grad_value_", "autograd"}
    | {"deepcopy", "save", "dump", "dumps", "requires_grad", "requires_grad_", "is_leaf", "grad_fn"}
)
"""Last parts of names by which gradients come to bear on results."""

_MODE_LAYERS = ("Dropout", "RReLU", "BatchNorm", "InstanceNorm", "Attention", "Transformer", "RNN",
                "LSTM", "GRU")  # fmt: skip
"""In names of layers that compute otherwise in evaluation, be it by a faster way."""

_RATED_LAYERS = ("Dropout", "BatchNorm", "InstanceNorm")
"""Of those with a rate of dropping, or of following the data, which counts in training only."""

_DRAWING_LAYERS = ("Dropout", "RReLU", "FractionalMaxPool")

_SILENT = frozenset(
    {"torch", "numpy", "pandas", "matplotlib", "PIL", "sklearn", "scipy", "seaborn", "tqdm"}
    | {"IPython", "ipywidgets"}
)
"""Packages that draw from torch nowhere but where it is called by name, besides Python's own."""

_BEYOND = frozenset({"_base", "as_strided", "base", "data_ptr", "storage", "untyped_storage"})
"""Names by which code comes from some rows of an array to those beside them."""

_IN_ORDER = frozenset(
    {"SequentialSampler", "BatchSampler", "DistributedSampler", "_InfiniteConstantSampler"}
)
"""Samplers that draw nothing, or from a generator that they seed themselves."""


_SHUFFLING = frozenset({"RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"})
"""Samplers that draw from the generator that they are given, where they are given one."""


class Draws:
    """What is met of a cell that may draw from torch.

    Attributes:
        names: Dotted names that it looks up or calls.
        attributes: Names of attributes that it reads, of whatever object.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self._loaders: list[bool | None] = []
        self._layers = self._active = self._heed_mode = self._rated = self._accumulates = False
        self._submodules: set[str] = set()

    def use(self, named: type) -> None:
        """Note that a class is named, by whatever name it goes there."""
        self.names |= {name_of_class(base) for base in mro(named)[:-1]} - {"Module"}

    def look_up(self, effects: Effects) -> None:
        """Note what code looks up and calls."""
        self._loaders += effects.loaders
        self.names |= effects.calls.keys() | effects.handed | effects.paths
        self.attributes |= effects.attributes
        self._accumulates |= effects.accumulates

    def meet(self, value: Any) -> None:  # noqa: ANN401
        """Note an object that the cell may reach."""
        kind = type(value)
        module = module_of_class(kind)
        if module.startswith("torch.utils.data.") and name_of_class(kind) == "DataLoader":
            self._loaders.append(_is_passive(dict(attributes(value))))
        elif any(module_of_class(base).startswith("torch.nn.") for base in mro(kind)):
            self._layer(value)

    def _layer(self, value: Any) -> None:  # noqa: ANN401
        fields: dict[str, Any] = dict(attributes(value))
        submodules = fields.get("_modules")
        self._submodules.update(submodules if type(submodules) is dict else ())
        named = name_of_class(type(value))
        trains = fields.get("training") is not False
        self._rated |= trains and _has(named, _RATED_LAYERS)
        rates = [fields.get(name) for name in ("dropout", "dropout_p")]
        draws = _has(named, _DRAWING_LAYERS)
        theirs = not module_of_class(type(value)).startswith("torch.nn.")
        self._heed_mode |= _has(named, _MODE_LAYERS) or (
            theirs and not is_local_module(module_of_class(type(value)))
        )
        if draws or any(map(_is_rate, rates)):
            self._layers = self._heed_mode = True
            self._active |= trains

    @property
    def looks_beyond(self) -> bool:
        """Whether any code may come from some rows of an array to the others."""
        return not _BEYOND.isdisjoint(self._lasts())

    @property
    def passive_loaders(self) -> int:
        """How many loaders are met, all in order; or 1, of which the user's class decides."""
        asks = {"_index_sampler", "batch_sampler", "sampler"}  # without a pass
        users = self._loaders == [None] and asks.isdisjoint(self._lasts())
        return len(self._loaders) if all(self._loaders) or users else 0

    def only_loader_seeds(self, packages: Iterable[str]) -> bool:
        """Tell whether all that may have drawn from torch are passes over such loaders.

        Args:
            packages: Packages that the cell reaches.
        """
        if not (self._loaders and all(self._loaders) and are_silent(packages)):
            return False
        lasts = self._lasts()
        draws = self._layers if "train" in lasts else self._active and "eval" not in lasts
        return not draws and not any(map(may_draw, lasts))

    def heeded(self, packages: Iterable[str], *, complete: bool) -> frozenset[str]:
        """Name what results may hang on: of ``HEEDED``, what is not seen to be without effect.

        Args:
            packages: Packages that the cell reaches.
            complete: Whether all of its code is known.
        """
        lasts = self._lasts()
        clears = "zero_grad" in lasts and not self._accumulates
        if not complete or not are_silent(packages):
            return frozenset(HEEDED) - ({"grad"} if clears else set())
        found = set()
        if not lasts.isdisjoint(_GRADIENTS):
            found |= {"frozen"} if clears else {"frozen", "grad"}
        if self._heed_mode or not lasts.isdisjoint({"training", "dropout"}):
            found.add("mode")
        if "train" in lasts or (self._rated and "eval" not in lasts):
            found.add("rates")
        if "load_state_dict" not in lasts or not self._draws_first_weights_alone(lasts):
            found.add("draws")
        return frozenset(found)

    def _draws_first_weights_alone(self, lasts: set[str]) -> bool:
        """Tell whether all that may draw from torch are constructors of layers."""
        constructors = all(name[:1].isupper() for name in filter(may_draw, lasts))
        layers = self._layers or any(_has(name, _DRAWING_LAYERS) for name in lasts)
        still = not layers or ("eval" in lasts and "train" not in lasts)
        return constructors and still and all(self._loaders)

    def _lasts(self) -> set[str]:
        """Return the last parts of all names."""
        return {_last(path) for path in self.names} | self.attributes - self._submodules


def accumulates(nodes: Iterable[ast.AST], attributes: Collection[str]) -> bool:
    """Tell whether code computes gradients before it clears any, in the order of its text.

    What others left there counts then, whatever is cleared later.

    Args:
        nodes: All of it.
        attributes: Names of all attributes in it.
    """
    if not {*attributes} >= _CLEARS:
        return False
    found = [each for each in nodes if isinstance(each, ast.Attribute) and each.attr in _CLEARS]
    found.sort(key=lambda each: (each.end_lineno or 0, each.end_col_offset or 0))
    return [each.attr for each in found[:1]] == ["backward"]


_CLEARS = frozenset({"backward", "zero_grad"})


def are_silent(packages: Iterable[str]) -> bool:
    """Tell whether packages do nothing unasked: all of them are well known."""
    return all(each in _SILENT or each in sys.stdlib_module_names for each in packages)


def _is_rate(value: Any) -> bool:  # noqa: ANN401 -- whatever goes by that name
    return (type(value) is int or type(value) is float) and value > 0


def _has(name: str, parts: Iterable[str]) -> bool:
    return any(part in name for part in parts)


@lru_cache(maxsize=4096)
def _last(path: str) -> str:
    return path.removesuffix("()").removesuffix("=").rpartition(".")[2].lstrip(":")


def may_draw(name: str) -> bool:
    """Tell whether what has this as the last part of its name may draw from torch."""
    if name[:1].isupper():  # a layer draws its first weights
        layers = introspection.module_names(sys.modules.get("torch.nn"))
        return not name.endswith("Loss") and introspection.is_class(layers.get(name))
    return not _DRAWS.isdisjoint(name.split("_")) or _has(name, _DRAW_TOO)


def _has_generator(sampler: object) -> bool:
    """Tell whether a sampler draws from a generator of its own."""
    kind = type(sampler)
    known = module_of_class(kind).startswith("torch.") and name_of_class(kind) in _SHUFFLING
    return known and dict(attributes(sampler)).get("generator") is not None


def _is_passive(fields: dict[str, Any]) -> bool | None:
    """Tell whether a pass over a loader draws its seed alone; None if the user's class decides."""
    batches = fields.get("batch_sampler")
    inner = {} if batches is None else dict(attributes(batches))
    samplers = (fields.get("sampler"), batches, inner.get("sampler"))
    kinds = {type(each) for each in samplers if each is not None and not _has_generator(each)}
    users = {each for each in kinds if is_local_module(module_of_class(each))}
    if fields.get("num_workers") != 0 or not all(
        module_of_class(each).startswith("torch.utils.data.") and name_of_class(each) in _IN_ORDER
        for each in kinds - users
    ):
        return False
    return None if users else True
