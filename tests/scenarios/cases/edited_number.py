"""The cell that sets a number was edited: said once, not again as what is behind it.

run: rate pay rate@2 pay
ask: pay
probe: total
changed: yes
expect: input rate 3
says: In[3] was edited
"""
# %% rate
rate = 2.0
# %% rate@2
rate = 3.0
# %% pay
total = rate * 10
