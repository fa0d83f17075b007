"""A reset sets all but the first item of what an environment keeps.

run: setup rollout debug rollout
ask: rollout
probe: total
changed: yes
expect: input env 3
"""
# %% setup
import torch
class Env:
    def __init__(self, n):
        self.steps = torch.zeros(n)
    def reset(self):
        self.steps[1:] = 0
        return self.steps
    def step(self, by):
        self.steps += by
        return self.steps
env = Env(3)
# %% rollout
env.reset()
total = 0.0
for t in range(4):
    total += env.step(0.5).sum().item()
env.steps.zero_()
print(total)
# %% debug
env.step(torch.ones(3))
