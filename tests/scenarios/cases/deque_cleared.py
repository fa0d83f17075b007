"""A deque is emptied by the cell that fills it; another cell changed the numbers.

run: setup fill more scale fill
ask: fill
probe: total
changed: yes
expect: input xs 4
innocent: input window
"""
# %% setup
from collections import deque
window = deque(maxlen=3)
xs = [1, 2, 3, 4]
# %% fill
window.clear()
window.extend(xs)
total = sum(window)
print(total)
# %% more
window.append(100)
# %% scale
xs[-1] = 10
