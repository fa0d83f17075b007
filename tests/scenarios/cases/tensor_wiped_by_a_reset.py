"""A vector env keeps its state in tensors that reset overwrites in place; goals changed.

run: setup rollout debug rollout
ask: rollout
probe: R
changed: yes
expect: input goals 3
innocent: input env
"""
# %% setup
import torch
class VecEnv:
    def __init__(self, n):
        self.state = torch.zeros(n, 2)
        self.steps = torch.zeros(n, dtype=torch.long)
    def reset(self):
        self.state.zero_()
        self.steps[:] = 0
        return self.state
    def step(self, a):
        self.state += a
        self.steps += 1
        return self.state, -self.state.norm(dim=1) * 0.1 * self.steps
env = VecEnv(3)
goals = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
# %% rollout
s = env.reset().clone()
R = 0.0
for t in range(4):
    s, r = env.step(0.3 * (goals - s))
    R += r.sum().item()
# %% debug
env.step(torch.ones(3, 2))
goals[0] = 2.0
