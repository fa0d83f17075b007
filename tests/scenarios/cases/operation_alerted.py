"""torch says that the operation has no deterministic algorithm; nothing else differs.

run: setup place place
ask: place
probe: out.tolist()
changed: yes
expect: operation aten::put_ 3
"""
# %% setup
import torch
torch.set_num_threads(8)
torch.manual_seed(0)
index = torch.randint(0, 4000, (800_000,))
value = torch.randn(800_000)
# %% place
%%deterministic --warn
out = torch.zeros(4000)
for _ in range(10):
    out += torch.zeros(4000).put_(index, value)
