"""A method of the user's sets again what the cell left in an object; another attribute changed.

run: setup roll other roll
ask: roll
probe: total
changed: yes
expect: input goal 3
innocent: input env
"""
# %% setup
class Env:
    def __init__(self): self.reset()
    def reset(self):
        self.x = self.t = 0
        return self.x
    def step(self, a):
        self.x += a
        self.t += 1
        return self.x
env, goal = Env(), 7
# %% other
env.step(4)
goal = 9
# %% roll
total, s = 0, env.reset()
for _ in range(5):
    s = env.step(1 if s < goal else -1)
    total += abs(s - goal)
