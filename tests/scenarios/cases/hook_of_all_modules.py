"""A global forward hook of all modules is left behind.

run: setup predict debug predict
ask: predict
probe: p
changed: yes
expect: flag torch.nn.modules.module.hooks 3
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
x = torch.randn(3, 4)
# %% predict
p = model(x).detach().tolist()
# %% debug
def double(mod, inp, out):
    if isinstance(mod, torch.nn.Linear):
        return out * 2
handle = torch.nn.modules.module.register_module_forward_hook(double)
