"""A run of MLflow's is tagged with the seed and the states that it began with."""

import json
import os
import subprocess
import sys

import pytest

_SCRIPT = """
import json, sys

import mlflow
from mlflow.tracking.context.registry import resolve_tags

import ipytorchseed as its

before = [name for name in resolve_tags() if "ipytorchseed" in name]
its.seed(42)
states = str(its.snapshot())
mlflow.set_tracking_uri(sys.argv[1])
with mlflow.start_run():
    pass
(run,) = mlflow.search_runs(filter_string="tags.`ipytorchseed.seed` = '42'", output_format="list")
print(json.dumps([before, states, run.data.tags["ipytorchseed.states"]]))
"""


@pytest.mark.tools
def test_a_run_is_found_by_its_seed_and_tells_its_states(tmp_path):
    """By MLflow itself, which finds the entry point.

    Not where ipytorchseed is only installed.
    """
    env = {**os.environ, "MLFLOW_ALLOW_FILE_STORE": "true"}  # the other store needs SQLAlchemy
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, (tmp_path / "runs").as_uri()],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, states, tagged = json.loads(done.stdout.splitlines()[-1])
    assert before == []
    assert tagged == states
    assert "torch.cpu" in states
