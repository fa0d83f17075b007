"""A cell removes the folder of cached features, so that others are computed.

run: setup load clean load
ask: load
probe: x
changed: yes
expect: file features.json 3
says: In[3] moved or removed cache
"""
# %% setup
import os, shutil, json
os.makedirs("cache", exist_ok=True)
json.dump([1, 2, 3], open("cache/features.json", "w"))
# %% load
if os.path.exists("cache/features.json"):
    x = json.load(open("cache/features.json"))
else:
    x = [0, 0, 0]
print(x)
# %% clean
shutil.rmtree("cache")
