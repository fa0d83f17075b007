"""The seed is set in the cell by an alias of torch.manual_seed; another cell drew; the number of heads changed.

run: setup use other use
ask: use
probe: v
changed: yes
expect: input heads 3
innocent: rng torch.cpu
"""
# %% setup
from torch import manual_seed as seed_everything, randn
from torch.nn import MultiheadAttention
heads = 1
# %% use
seed_everything(3)
mha = MultiheadAttention(8, heads, batch_first=True)
q = randn(2, 5, 8)
v = mha(q, q, q)[0].sum().item()
# %% other
randn(9)
heads = 4
