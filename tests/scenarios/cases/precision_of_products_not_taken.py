"""The default dtype was changed; a switch of cuDNN was too, which has no part on a CPU.

run: setup train dbg train
ask: train
probe: loss
changed: yes
expect: flag torch.default_dtype 3
innocent: flag torch.backends.cudnn.benchmark
innocent: flag torch.float32_matmul_precision
"""
# %% setup
import torch
from torch import nn
# %% train
t = torch.linspace(0, 1, 11)
w = torch.zeros(1, requires_grad=True)
for _ in range(20):
    l = ((w * t - t.sin()) ** 2).mean()
    (g,) = torch.autograd.grad(l, w)
    w = (w - 0.1 * g).detach().requires_grad_()
loss = l.item()
# %% dbg
torch.backends.cudnn.benchmark = True
torch.set_float32_matmul_precision("high")
torch.set_default_dtype(torch.float64)
