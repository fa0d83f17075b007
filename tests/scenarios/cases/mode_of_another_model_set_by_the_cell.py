"""The cell sets the teacher's mode itself; the student's was switched elsewhere, and the batch changed.

run: setup score change score
ask: score
probe: out
changed: yes
expect: input student 3
expect: input X 3
"""
# %% setup
import torch, torch.nn as nn
torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
student = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
X = torch.randn(6, 3)
# %% score
teacher.eval()
torch.manual_seed(3)
with torch.no_grad():
    out = (teacher(X) - student(X)).tolist()
# %% change
student.eval(); X = X + 1
