"""A report is rendered from a template that another cell wrote again.

run: setup render edit render
ask: render
probe: html
changed: yes
expect: file report.md 3
"""
# %% setup
import os
from jinja2 import Environment, FileSystemLoader
os.makedirs("templates", exist_ok=True)
with open("templates/report.md", "w") as f:
    f.write("# {{ title }}\n{% for k, v in metrics.items() %}{{ k }}: {{ '%.2f'|format(v) }}\n{% endfor %}")
env = Environment(loader=FileSystemLoader("templates"))
metrics = {"acc": 0.91234, "f1": 0.8765}
# %% render
html = env.get_template("report.md").render(title="Run 1", metrics=metrics)
print(html)
# %% edit
import time; time.sleep(0.02)
with open("templates/report.md", "w") as f:
    f.write("## {{ title }}\n{% for k, v in metrics.items() %}- {{ k }}: {{ '%.3f'|format(v) }}\n{% endfor %}")
