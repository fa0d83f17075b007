"""A handler's name is gone after the handler: python deletes it.

run: setup read fail read
ask: read
probe: out
changed: yes
expect: input e 3
says: In[3] deleted `e`
"""
# %% setup
e = 2.718
# %% read
try:
    out = e * 2
except NameError:
    out = 0
print(out)
# %% fail
try:
    1 / 0
except ZeroDivisionError as e:
    pass
