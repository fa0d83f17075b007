"""A function counts its calls in a global that nothing depends on; its argument changed.

run: setup use change use
ask: use
probe: out
changed: yes
expect: input x 3
innocent: input calls
"""
# %% setup
calls = 0
def scale(v):
    global calls
    calls += 1
    return v * 2
x = 3
# %% use
out = scale(x)
print(out)
# %% change
x = 4
