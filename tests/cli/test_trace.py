"""``ipytorchseed trace diff``: two files of operations, from a shell."""

from __future__ import annotations

import json

import pytest
import torch
from click.testing import CliRunner

import ipytorchseed as its
from ipytorchseed.cli import main


def run(*words):
    """Run the command; return its exit code, standard output and standard error."""
    done = CliRunner().invoke(main, ["trace", "diff", *map(str, words)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def traces(tmp_path, monkeypatch):
    """Two runs that diverge at a factor, and a file that is not a trace."""
    monkeypatch.chdir(tmp_path)
    for name, factor in (("a", 2.0), ("b", 3.0)):
        with its.trace(name, summaries=True):
            for turn in range(4):
                x = torch.full((3,), turn + 1.0).sin()
                (x * factor if turn == 2 else x * 2.0).exp()
    (tmp_path / "none").write_text("<b>\x1b[31m")
    return tmp_path


@pytest.mark.usefixtures("traces")
def test_it_exits_as_check_does():
    """0 if the runs are equal, 1 if they differ, 2 if a file cannot be read."""
    assert run("a", "a")[0] == 0
    assert run("a", "b")[0] == 1
    assert run("a", "b", "--rtol", "0.9")[0] == 0
    for words in (("a", "none"), ("a", "lost"), ("a",), ("a", "b", "--rtol", "-1")):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert err.strip().splitlines()[-1].startswith("Error: ")


@pytest.mark.usefixtures("traces")
def test_the_text_says_where_and_how_they_part():
    """In 80 columns: the operation, its line and code, and its inputs."""
    _, text, _ = run("a", "b")
    assert "aten::mul, line" in text
    assert "(x * factor if turn == 2 else x * 2.0).exp()" in text
    assert "float32[3], 2.0 → float32[3], 3.0" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert run("a", "a")[1].startswith("Both runs computed the same, bit for bit: 16 operations.")


@pytest.mark.usefixtures("traces")
def test_json_is_one_line():
    """With the line, and the distance of the results."""
    _, out, _ = run("a", "b", "--json")
    told = json.loads(out)
    assert out.count("\n") == 1
    assert told["equal"] is False
    first = told["first_divergence"]
    assert (first["operation"], first["kind"], first["index"]) == ("aten::mul", "argument", 10)
    assert first["inputs_equal"] is False
    assert abs(first["difference"] - 1 / 3) < 1e-6
