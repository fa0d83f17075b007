"""The data were drawn again from where the source then stood, and the cell draws from it as well.

run: setup data q data q
ask: q
probe: out
changed: yes
expect: input x 4
expect: rng torch.cpu
says: torch's random stream had moved on
"""
# %% setup
import torch
torch.manual_seed(0)
# %% data
x = torch.randn(4)
# %% q
out = (x + torch.rand(4)).sum().item()
