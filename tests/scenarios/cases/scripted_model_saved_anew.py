"""A model is loaded by C++ code from a file that another cell saved again.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file m.pt 3
"""
# %% setup
import torch
def save(k):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__(); self.k = torch.nn.Parameter(torch.tensor(float(k)))
        def forward(self, x):
            return x * self.k
    torch.jit.trace(M(), torch.ones(1)).save("m.pt")
save(2)
# %% q
m = torch.jit.load("m.pt")
out = m(torch.ones(1)).item()
# %% other
save(3)
