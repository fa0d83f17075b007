"""A debugging cell stepped the environment, which reset wipes; the policy table changed.

run: setup rollout debug rollout
ask: rollout
probe: R
changed: yes
expect: input policy 3
innocent: input env
"""
# %% setup
import numpy as np
class CliffWalk:
    def __init__(self, w=6):
        self.w = w
        self.reset()
    def reset(self):
        self.pos, self.t, self.visited = 0, 0, set()
        return self.pos
    def step(self, a):
        self.pos = max(0, min(self.w - 1, self.pos + a))
        self.t += 1
        self.visited.add(self.pos)
        return self.pos, -1.0 + 0.1 * len(self.visited), self.t >= 8
env = CliffWalk()
policy = np.array([1, 1, -1, 1, 1, 1])
# %% rollout
s, R, done = env.reset(), 0.0, False
while not done:
    s, r, done = env.step(int(policy[s]))
    R += r
# %% debug
for a in (1, 1, 1):
    print(env.step(a))
policy[2] = 1
