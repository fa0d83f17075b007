"""A program prints something new each time, and an operation does not repeat: that is not its doing.

run: setup add add
ask: add
probe: total
changed: yes
verdict: unexplained
"""
# %% setup
import torch
torch.manual_seed(0)
torch.set_num_threads(8)
index = torch.randint(0, 40, (800_000,))
ones = torch.rand(800_000)
# %% add
!date +%s%N
total = torch.zeros(40)
for _ in range(30):
    total.index_put_((index,), ones, accumulate=True)
total = total.tolist()
