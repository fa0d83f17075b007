"""A cell awaits functions that draw.

run: setup seed fetch fetch
ask: fetch
probe: answers
changed: yes
expect: rng python 3
"""
# %% setup
import asyncio, random
async def ask(i):
    await asyncio.sleep(0)
    return i * random.random()
# %% seed
random.seed(0)
# %% fetch
answers = await asyncio.gather(ask(1), ask(2))
