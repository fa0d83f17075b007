"""A cell seeds before it draws, and adds in any order: where the source stood is no reason.

run: setup scatter noise scatter
ask: scatter
probe: out.tolist()
changed: yes
verdict: unexplained
innocent: rng torch.cpu
"""
# %% setup
import torch
torch.set_num_threads(8)
torch.manual_seed(0)
index = torch.randint(0, 50, (1_000_000,))
# %% scatter
out = torch.zeros(50)
torch.manual_seed(1)
value = torch.randn(1_000_000)
for _ in range(30):
    out.index_put_((index,), value, accumulate=True)
# %% noise
_ = torch.rand(1000)
