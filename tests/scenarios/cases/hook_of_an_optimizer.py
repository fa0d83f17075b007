"""An optimizer step pre-hook was registered that clips.

run: setup f hook f
ask: f
probe: w
changed: yes
expect: input opt 3
innocent: input net
"""
# %% setup
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
start = {k: v.clone() for k, v in net.state_dict().items()}
opt = torch.optim.SGD(net.parameters(), lr=.1)
x = torch.ones(1, 3) * 10
# %% f
net.load_state_dict(start)
opt.zero_grad()
net(x).pow(2).sum().backward()
opt.step()
w = net.weight.sum().item()
# %% hook
opt.register_step_pre_hook(lambda o, a, k: torch.nn.utils.clip_grad_value_(net.parameters(), 1.0));
