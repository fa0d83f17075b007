"""The flags of inductor, torch.compile's backend.

Reading or setting them does not import inductor.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from operator import attrgetter
from typing import Any

from ipytorchseed.determinism.flag import Flag
from ipytorchseed.determinism.machine import Machine

_INDUCTOR = "torch._inductor.config"

_NUMERICS = f"{_INDUCTOR}.numerics"

_CONFIG = "https://github.com/pytorch/pytorch/blob/main/torch/_inductor/config.py"


def inductor_flag(
    path: str,
    why: str,
    source: str = _CONFIG,
    *,
    variable: str = "",
    default: object = False,
    **fields: Any,
) -> Flag:
    """Return the flag of a setting of inductor; ``wanted`` is any value by default.

    Args:
        path: The setting's name in inductor's module. If this torch has no such setting, its value
            is ``default``.
        why: One sentence: what the setting does.
        source: The address of the documentation.
        variable: The environment variable that sets the value when inductor is imported.
        default: The value without that variable: False, or a word.
        **fields: Further fields of ``Flag``.
    """
    find = attrgetter(path)

    def get() -> object:
        module = sys.modules.get(_INDUCTOR)
        if module is not None:
            try:
                return find(module)
            except AttributeError:
                return default
        told = os.environ.get(variable, "") if variable else ""
        return told == "1" if default is False else told or default

    def set_(value: Any) -> None:
        module = sys.modules.get(_INDUCTOR)
        if module is not None and get() != value:  # another setting may imply it
            holder, _, last = path.rpartition(".")
            with suppress(AttributeError):  # a torch that lacks it
                setattr(attrgetter(holder)(module) if holder else module, last, value)

    return Flag(name=f"{_INDUCTOR}.{path}", get=get, set=set_, why=why, source=source, **fields)


def _has_triton(machine: Machine) -> bool:
    return machine.cuda or machine.xpu


COMPILED: tuple[Flag, ...] = (  # numerics first: "strict" sets the four rows below
    inductor_flag(
        "numerics",
        "Compiled code rounds in the fastest way or, with strict, rounds products, divisions and"
        " sums as eager code does.",
        variable="TORCHINDUCTOR_NUMERICS",
        default="default",
        applies=lambda machine: machine.torch >= (2, 14),
    ),
    inductor_flag(
        "emulate_precision_casts",
        "Compiled code rounds bf16 and fp16 after each operation, as eager code does; implied by"
        " strict numerics.",
        variable="TORCHINDUCTOR_EMULATE_PRECISION_CASTS",
        changes_with=_NUMERICS,
    ),
    inductor_flag(
        "eager_numerics.division_rounding",
        "Compiled code on GPU divides with correct rounding, as eager code does; implied by strict"
        " numerics.",
        variable="TORCHINDUCTOR_EMULATE_DIVISION_ROUNDING",
        changes_with=_NUMERICS,
        applies=_has_triton,
    ),
    inductor_flag(
        "eager_numerics.disable_ftz",
        "If True, compiled code on GPU keeps subnormal numbers, as eager code does; if False, it"
        " may replace them by 0. Implied by strict numerics.",
        changes_with=_NUMERICS,
        applies=_has_triton,
    ),
    inductor_flag(
        "eager_numerics.use_pytorch_libdevice",
        "If True, compiled code on GPU takes functions such as exp and erf from CUDA's library, as"
        " eager code does; if False, from Triton's.",
        applies=_has_triton,
    ),
    inductor_flag(
        "batch_invariant",
        "If True, a sample's result in compiled code does not depend on the size of its batch; if"
        " False, the code is tuned to that size.",
        variable="TORCHINDUCTOR_BATCH_INVARIANT",
    ),
    inductor_flag(
        "fallback_random",
        "If True, compiled code draws random numbers as eager code does; if False, in its own way."
        " Both repeat, with different numbers.",
        "https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/torch.compiler_faq.html",
    ),
)
