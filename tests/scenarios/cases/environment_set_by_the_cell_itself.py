"""The cell itself sets a variable of the environment from a name; the name changed.

run: setup run pick run
ask: run
probe: url
changed: yes
expect: input stage 3
innocent: environment STAGE
"""
# %% setup
import os
def base_url():
    return {"dev": "http://localhost:8000", "prod": "https://api.example.com"}[os.environ["STAGE"]]
stage = "dev"
# %% run
os.environ["STAGE"] = stage
url = base_url() + "/v1/items"
print(url)
# %% pick
stage = "prod"
