"""After a restart an edited data cell was run, and the cell; the config was run as it is.

run: config data use !restart config data@2 use
ask: use
probe: out
changed: yes
expect: input xs 5
says: In[2] was edited
"""
# %% config
cfg = {"k": 3}
# %% data
xs = [1, 2, 3]
# %% data@2
xs = [1, 2, 4]
# %% use
out = sum(xs) * cfg["k"]
