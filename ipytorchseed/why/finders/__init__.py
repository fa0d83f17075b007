"""One finder for each kind of cause. The lists are in the order in which causes are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared
from ipytorchseed.why.finders.calls import find_calls
from ipytorchseed.why.finders.code import find_code
from ipytorchseed.why.finders.entropy import find_entropy, find_memory, find_places
from ipytorchseed.why.finders.files import find_files, find_other_files
from ipytorchseed.why.finders.forms import find_forms
from ipytorchseed.why.finders.generators import find_inherited, find_rng
from ipytorchseed.why.finders.inputs import find_inputs
from ipytorchseed.why.finders.libraries import find_libraries
from ipytorchseed.why.finders.names import find_names, find_own_names
from ipytorchseed.why.finders.operations import find_operations
from ipytorchseed.why.finders.settings import find_settings
from ipytorchseed.why.finders.unseen import find_unseen

Found = Iterator[Cause | Cleared]
Finder = Callable[[Evidence], Found]


def _alone(find: Finder) -> Callable[[Evidence, bool], Found]:
    """Have a finder look only where no other cause was found."""
    return lambda case, others: iter(()) if others else find(case)


FINDERS: tuple[Finder, ...] = (
    find_code,
    find_inputs,
    find_names,
    find_files,
    find_rng,
    find_settings,
)
"""Finders of recorded differences: what certainly acts on results before a source that moved."""

OTHERS: tuple[Callable[[Evidence, bool], Found], ...] = (
    find_operations,
    find_entropy,
    find_other_files,
)
"""Finders that also weigh whether another cause was found."""

LAST_RESORT: tuple[Callable[[Evidence, bool], Found], ...] = (
    _alone(find_forms),
    _alone(find_inherited),
    find_own_names,
    find_memory,
    find_libraries,
    find_calls,
    _alone(find_unseen),
    _alone(find_places),
)
"""The same, asked after suspects that were cleared for reasons that are not certain."""
