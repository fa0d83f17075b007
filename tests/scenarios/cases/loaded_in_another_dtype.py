"""A cell loads the weights before it trains, and another one gave the model another dtype.

run: setup train halve train
ask: train
probe: loss
changed: yes
expect: input net 3
says: dtype float32 → bfloat16
"""
# %% setup
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
start = {name: value.clone() for name, value in net.state_dict().items()}
x = torch.randn(8, 4)
# %% train
net.load_state_dict(start)
loss = net(x.to(net.weight.dtype)).square().mean().item()
print(loss)
# %% halve
net.bfloat16()
