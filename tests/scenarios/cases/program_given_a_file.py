"""A script that a program runs opens a file that another cell has written to since.

run: script data total other data@2 total
ask: total
probe: total
changed: yes
expect: file values.txt 5
innocent: environment COLOR
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
total = !python3 summed.py | cat
# %% other
%env COLOR=red
