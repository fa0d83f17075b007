"""A cell loads the weights before it trains, and a buffer that no state_dict holds was changed.

run: setup train scale train
ask: train
probe: loss
changed: yes
expect: input net 3
"""
# %% setup
import torch
torch.manual_seed(0)
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 1)
        self.register_buffer("scale", torch.tensor(1.0), persistent=False)
    def forward(self, x):
        return self.inner(x) * self.scale
net = Scaled()
start = {name: value.clone() for name, value in net.state_dict().items()}
x = torch.randn(8, 4)
# %% train
net.load_state_dict(start)
loss = net(x).square().mean().item()
print(loss)
# %% scale
net.scale.mul_(2)
