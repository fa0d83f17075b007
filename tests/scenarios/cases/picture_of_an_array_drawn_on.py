"""An image from an array was drawn into in place; nothing else.

run: setup stats stamp stats
ask: stats
probe: mean
changed: yes
expect: input img 3
says: In[3] changed `img`: image with different content
"""
# %% setup
import numpy as np
from PIL import Image, ImageDraw
img = Image.fromarray(np.tile(np.arange(64, dtype=np.uint8), (64, 1)))
# %% stats
mean = float(np.asarray(img).mean())
print(mean)
# %% stamp
ImageDraw.Draw(img).rectangle((0, 0, 10, 10), fill=255)
