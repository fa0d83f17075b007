"""A small real training, eager and compiled, with planted faults.

Run as a program, it records all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

import ipytorchseed as its

# The kind of difference to compiled code, and the comment on the eager line. If a layer is left
# out, the line is that of the first operation fused with its neighbours. For the last operation,
# only the compiled code is left.
FAULTS = {
    "eps": ("fused", "# eps"),
    "layer": ("fused", "# residual"),
    "residual": ("fused", "# layer"),
    "weight": ("input", "# weight"),
    "hidden": ("operation", "# hidden"),
    "softmax": ("fused", ""),
}


@torch.library.custom_op("ipytorchseed_tests::scaled", mutates_args=())
def scaled(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """Return a different result for the same input if a fault is planted."""
    return x * (1.01 if PLANTED == "hidden" else 1.0)


scaled.register_fake(lambda x, _: torch.empty_like(x))
torch.library.register_autograd(
    "ipytorchseed_tests::scaled", lambda _, grad: (grad, None), setup_context=lambda *_, **__: None
)
PLANTED = ""


class Net(nn.Module):
    """Convolution and batch norm, attention with layer norm, a residual, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.batch = nn.Conv1d(4, 16, 3, bias=False), nn.BatchNorm1d(16)
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)
        self.head, self.drop = nn.Linear(16, 4), nn.Dropout(0.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return shares of four kinds."""
        x = functional.gelu(self.batch(self.conv(x))).transpose(1, 2)  # eps
        q, k, v = self.qkv(self.norm(x)).reshape(8, 6, 3, 2, 8).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(8, 6, 16)
        y = self.out(y)  # weight
        y = y if PLANTED == "layer" else y.tanh()  # layer
        x = y if PLANTED == "residual" else x + self.drop(y)  # residual
        y = scaled(self.head(x.mean(1)), x)  # hidden
        return y if PLANTED == "softmax" and not self.training else y.softmax(-1)  # softmax


def record(out: Path, *, compiled: bool, steps: int = 2, threads: int = 1) -> None:
    """Train for some steps, and evaluate. Nothing uses the last output."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    net, x = Net(), torch.randn(8, 4, 8)
    if PLANTED == "eps":
        net.batch.eps = 0.01
    if PLANTED == "weight":
        net.out.weight.data *= 1.01
    run = torch.compile(net) if compiled else net
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    with its.trace(out, summaries=True):
        for _ in range(steps):
            opt.zero_grad()
            run(x).square().mean().backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            run(x)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    record(folder / "compiled", compiled=True)
    record(folder / "eager", compiled=False)
    record(folder / "threads", compiled=False, threads=8)
    for PLANTED in FAULTS:
        record(folder / PLANTED, compiled=False)
