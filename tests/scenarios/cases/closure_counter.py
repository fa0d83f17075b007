"""A closure counts its calls, those of other cells as well.

run: setup call beside other call
ask: call
probe: n
changed: yes
expect: input count 2 4
"""
# %% setup
def make_counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
count = make_counter()
# %% call
n = count()
# %% beside
x = 1
# %% other
m = count()
