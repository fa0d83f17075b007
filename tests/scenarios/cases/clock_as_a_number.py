"""What remains of a reading of the clock is a number of the result.

run: fill fill
ask: fill
probe: res
changed: yes
expect: entropy time.time_ns
"""
# %% fill
import time
k = time.time_ns() // 1000 % 999_999_937
res = [1, k]
print(res)
