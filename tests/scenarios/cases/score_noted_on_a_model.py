"""A function gets a model and settings; only parts that it does not read changed.

run: setup score note score
ask: score
probe: score
changed: yes
expect: rng numpy 2
innocent: input net
"""
# %% setup
import numpy as np, torch
np.random.seed(0)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.best = torch.nn.Flatten(), None
    def forward(self, x):
        return self.layer(x)
net, settings = Net(), {"rows": 5, "title": "first"}
data = torch.arange(60.0).reshape(30, 2)
@torch.no_grad()
def evaluate(model, data, settings):
    model.eval()
    return model(data[np.random.choice(len(data), settings["rows"])]).sum().item()
# %% score
score = evaluate(net, data, settings)
# %% note
net.best, settings["title"] = 0.9, "second"
