"""Many threads add to the same places, in whatever order.

run: setup count count
ask: count
probe: out.tolist()
changed: yes
verdict: unexplained
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
