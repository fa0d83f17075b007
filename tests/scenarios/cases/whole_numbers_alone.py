"""The default dtype and the threads changed: neither acts on whole numbers.

run: setup use opt use
ask: use
probe: s
changed: yes
expect: rng python 2
innocent: flag torch.default_dtype
innocent: flag torch.num_threads
"""
# %% setup
import torch, random
random.seed(0)
a = torch.arange(10)
# %% use
s = int(a.sum()) + random.randint(0, 1000)
# %% opt
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
