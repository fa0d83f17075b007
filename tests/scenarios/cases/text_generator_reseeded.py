"""Another cell gave the generator of the sampling another seed.

run: setup sample reseed sample
ask: sample
probe: picks
changed: yes
expect: rng g 3
"""
# %% setup
import torch
g = torch.Generator().manual_seed(0)
torch.manual_seed(0)
# %% sample
picks = torch.multinomial(torch.ones(9), 9, generator=g).tolist()
# %% reseed
g.manual_seed(11);
