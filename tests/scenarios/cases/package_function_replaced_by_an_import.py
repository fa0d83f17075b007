"""An own module patches torch when it is imported.

run: write setup go imp go
ask: go
probe: r
changed: yes
expect: input torch.nn.functional.gelu 4
"""
# %% write
open('hacks.py', 'w').write('import torch.nn.functional as F\nF.gelu = lambda x, approximate="none": x\n');
# %% setup
import torch
import torch.nn.functional as F
act = torch.nn.GELU()
# %% go
r = act(torch.tensor(-1.0)).item()
# %% imp
import hacks
