"""Deep copies of many values at once: shared objects and shared memory stay shared.

As ``copy.deepcopy``, with what that lacks: tensors and arrays that share memory still share it,
parameters keep their gradients and hooks, generators of random numbers are copied, and what cannot
be copied is shared and named instead of failing.
"""

from __future__ import annotations

from ipytorchseed.experiment.copy_arrays import of_library
from ipytorchseed.experiment.copy_builtin import BUILTIN
from ipytorchseed.experiment.copying import Copies, ObjectCopier


class Copier(ObjectCopier):
    """Copies values; each object once. What it tells is described at ``ObjectCopier``."""

    def special(self, kind: type) -> Copies | None:
        """Return how containers, functions, tensors and arrays are copied."""
        return BUILTIN.get(id(kind)) or of_library(kind)
