"""The state was rewound between two runs of a cell: that is said of it, not that it was reseeded.

run: import first draw first rewind draw
ask: draw
probe: x
changed: yes
expect: rng torch.cpu 5
says: In[5] restored an earlier state of torch's random stream
"""

# %% import
import torch

torch.manual_seed(5)

# %% first
torch.rand(7)

# %% draw
x = torch.rand(3).tolist()

# %% rewind
%seed rewind 2
