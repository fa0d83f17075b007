"""What a program of the shell prints goes into a variable.

run: name name
ask: name
probe: stamp
changed: yes
expect: entropy date
"""
# %% name
stamp = !date +%s%N
