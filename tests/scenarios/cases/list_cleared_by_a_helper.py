"""A helper clears the list that it is given; the factor changed.

run: setup f other f
ask: f
probe: s
changed: yes
expect: input k 3
innocent: input hist
"""
# %% setup
hist = []
k = 1
def train(h):
    h.clear()
    for i in range(3):
        h.append(i * k)
    return sum(h)
# %% f
s = train(hist)
# %% other
k = 2
hist.append(99)
