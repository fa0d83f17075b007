"""A script that a program runs reads a file that changed, and writes one that the cell reads.

run: script data total other data@2 total
ask: total
probe: total
changed: yes
expect: file values.txt 5
"""
# %% script
%%writefile summed.py
print(sum(map(float, open("values.txt"))))
# %% data
%%writefile values.txt
1
2
# %% data@2
%%writefile values.txt
1
20
# %% total
!python3 summed.py > sum.txt
with open("sum.txt") as file:
    total = file.read()
# %% other
%env COLOR=red
