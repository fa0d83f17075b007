"""A function counts its calls in a global, by which another function scales what it is given.

run: setup use use
ask: use
probe: out
changed: yes
expect: input calls 2
"""
# %% setup
calls = 0
def count():
    global calls
    calls += 1
def scale(v):
    return v * calls
# %% use
count()
out = scale(3)
print(out)
