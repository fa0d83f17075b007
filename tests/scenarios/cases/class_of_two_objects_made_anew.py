"""A class was edited: the way back makes both objects of it again.

run: cls a b use cls@2 a b use
ask: use
probe: r
changed: yes
expect: input P 5
back: complete
"""
# %% cls
class P:
    def __init__(self, v): self.v = v
    def val(self): return self.v + 1
# %% cls@2
class P:
    def __init__(self, v): self.v = v
    def val(self): return self.v + 100
# %% a
x = P(1)
# %% b
y = P(2)
# %% use
r = x.val() * y.val()
