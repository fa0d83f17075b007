"""A check caught the operation; two plain runs of the same text differ later.

run: setup count@2 count count
ask: count
probe: out.tolist()
changed: yes
expect: operation aten::put_ 2
"""
# %% setup
import torch
torch.set_num_threads(8)
torch.manual_seed(0)
index = torch.randint(0, 40, (800_000,))
value = torch.randn(800_000)
# %% count
out = torch.zeros(40)
for _ in range(30):
    out.put_(index, value, accumulate=True)
# %% count@2
%%deterministic --check
out = torch.zeros(40)
for _ in range(30):
    out.put_(index, value, accumulate=True)
