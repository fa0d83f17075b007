"""A layer of the notebook's own asks for its mode, which another cell switched.

run: setup score freeze score
ask: score
probe: score
changed: yes
expect: input model 3
"""
# %% setup
import torch
class Scale(torch.nn.Module):
    def forward(self, x):
        return x * 2 if self.training else x
model = torch.nn.Sequential(Scale())
# %% score
score = model(torch.ones(2)).tolist()
# %% freeze
model.eval();
