"""One finder for each kind of cause, in the order in which causes are listed."""

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


def _only_alone(find: Finder) -> Callable[[Evidence, bool], Found]:
    """Make a finder return nothing if another cause was found."""
    return lambda evidence, others: iter(()) if others else find(evidence)


# Finders of recorded differences. Those that certainly affect results come before moved sources.
FINDERS: tuple[Finder, ...] = (
    find_code,
    find_inputs,
    find_names,
    find_files,
    find_rng,
    find_settings,
)

# Finders that consider whether another cause was found.
OTHERS: tuple[Callable[[Evidence, bool], Found], ...] = (
    find_operations,
    find_entropy,
    find_other_files,
)

# The same, but run after suspects that were cleared without certainty.
LAST_RESORT: tuple[Callable[[Evidence, bool], Found], ...] = (
    _only_alone(find_forms),
    _only_alone(find_inherited),
    find_own_names,
    find_memory,
    find_libraries,
    find_calls,
    _only_alone(find_unseen),
    _only_alone(find_places),
)
