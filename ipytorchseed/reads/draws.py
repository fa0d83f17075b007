"""Whether a cell may draw from torch by itself, as far as its names and its values tell.

A ``DataLoader`` that does not shuffle draws all the same: each pass takes two numbers from
``torch.cpu`` as a seed for its workers, and where it has none, nobody uses them
(``_BaseDataLoaderIter``, torch/utils/data/dataloader.py). Where nothing else may have drawn,
results do not hang on that source.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import attributes, module_of_class, mro, name_of_class

if TYPE_CHECKING:
    from collections.abc import Iterable

# Too many rather than too few: a source that is not passed over is named as a cause.
_DRAWS = re.compile(
    r"(.*_)?(rand(n|int|perm|om)?|(alpha_)?dropout\d?d?|bernoulli|multinomial|normal|uniform"
    r"|poisson|exponential|geometric|cauchy|gumbel|r?sample|shuffle|binomial|rrelu|orthogonal"
    r"|sparse|permutation|reset_parameters|compile|scaled_dot_product_attention)(_.*)?"
)
"""The last parts of names of torch's functions and methods that draw."""

_DRAWING_LAYERS = re.compile(r".*(Dropout|RReLU|FractionalMaxPool).*")

_SILENT = frozenset(
    {"torch", "numpy", "pandas", "matplotlib", "PIL", "sklearn", "scipy", "seaborn", "tqdm"}
    | {"IPython", "ipywidgets"}
)
"""Packages that draw from torch nowhere but where it is called by name, besides Python's own."""

_IN_ORDER = frozenset({"SequentialSampler", "BatchSampler", "_InfiniteConstantSampler"})
"""Samplers that draw nothing."""


class Draws:
    """What is met of a cell that may draw from torch.

    Attributes:
        names: Dotted names that it looks up or calls.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._loaders: list[bool] = []
        self._layers = self._active = False

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
        rates = [fields.get(name) for name in ("dropout", "dropout_p")]
        draws = _DRAWING_LAYERS.fullmatch(name_of_class(type(value)))
        if draws or any(map(_is_rate, rates)):
            self._layers = True
            self._active |= fields.get("training") is not False

    def only_loader_seeds(self, packages: Iterable[str]) -> bool:
        """Tell whether all that may have drawn from torch are passes over such loaders.

        Args:
            packages: Packages that the cell reaches.
        """
        if not self._loaders or not all(self._loaders):
            return False
        lasts = {_last(path) for path in self.names}
        draws = self._layers if "train" in lasts else self._active and "eval" not in lasts
        known = all(each in _SILENT or each in sys.stdlib_module_names for each in packages)
        return known and not draws and not any(map(_may_draw, lasts))


def _is_rate(value: Any) -> bool:  # noqa: ANN401 -- whatever goes by that name
    return (type(value) is int or type(value) is float) and value > 0


def _last(path: str) -> str:
    return path.removesuffix("()").removesuffix("=").rpartition(".")[2].lstrip(":")


def _may_draw(name: str) -> bool:
    if name[:1].isupper():  # a layer draws its first weights
        layers = introspection.module_names(sys.modules.get("torch.nn"))
        return not name.endswith("Loss") and introspection.is_class(layers.get(name))
    return _DRAWS.fullmatch(name) is not None


def _is_passive(fields: dict[str, Any]) -> bool:
    batches = fields.get("batch_sampler")
    inner = {} if batches is None else dict(attributes(batches))
    samplers = (fields.get("sampler"), batches, inner.get("sampler"))
    return fields.get("num_workers") == 0 and all(
        module_of_class(type(each)).startswith("torch.utils.data.")
        and name_of_class(type(each)) in _IN_ORDER
        for each in samplers
        if each is not None
    )
