"""A cell loads the weights and sets the mode before it measures; another cell trained the model.

run: setup measure train noise measure
ask: measure
probe: loss
changed: yes
expect: input x 4
innocent: input net
"""
# %% setup
import torch
torch.manual_seed(0)
net = torch.nn.BatchNorm1d(4)
start = {name: value.clone() for name, value in net.state_dict().items()}
x = torch.randn(8, 4)
# %% measure
net.load_state_dict(start)
net.eval()
loss = net(x).square().mean().item()
print(loss)
# %% train
net.train()
net(x * 3)
# %% noise
x = x + 1
