"""Another cell registers a hook for all optimizers' steps that scales gradients.

run: setup train patch train
ask: train
probe: loss
changed: yes
expect: flag torch.optim.optimizer.hooks 3
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(20, 3), torch.randn(20, 1)
# %% train
torch.manual_seed(1)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    l = nn.functional.mse_loss(net(x), y)
    l.backward()
    opt.step()
loss = l.item()
# %% patch
from torch.optim.optimizer import register_optimizer_step_pre_hook
def shrink(opt, args, kwargs):
    for g in opt.param_groups:
        for p in g["params"]:
            p.grad.mul_(0.5)
_h = register_optimizer_step_pre_hook(shrink)
