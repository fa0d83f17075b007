"""A check caught the operation; then the cell was edited to do without it, and draws.

run: setup count@2 count count
ask: count
probe: out.tolist()
changed: yes
expect: rng torch.cpu 3
"""
# %% setup
import torch
torch.set_num_threads(8)
torch.manual_seed(0)
index = torch.randint(0, 40, (800_000,))
value = torch.randn(800_000)
# %% count
out = torch.zeros(40).index_add(0, index, value) + torch.rand(40)
# %% count@2
%%deterministic --check
out = torch.zeros(40)
for _ in range(30):
    out.put_(index, value, accumulate=True)
