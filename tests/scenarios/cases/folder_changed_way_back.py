"""Another cell changed the working directory; the same relative path is another file.

run: imports write use cd use
ask: use
probe: total
changed: yes
back: complete
expect: file vals.txt 4 or environment cwd 4 or flag cwd 4 or environment os.getcwd 4 or flag getcwd 4
"""
# %% imports
import os
from pathlib import Path
# %% write
Path('vals.txt').write_text('1\n2\n')
os.makedirs('v2', exist_ok=True)
Path('v2/vals.txt').write_text('10\n20\n');
# %% use
with open('vals.txt') as f:
    total = sum(map(int, f))
total
# %% cd
os.chdir('v2')
