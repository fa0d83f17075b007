"""``ipytorchseed ledger``: the record of runs, from a shell."""

from __future__ import annotations

import json
import sqlite3

import pytest
from click.testing import CliRunner

from ipytorchseed.cli import main
from ipytorchseed.ledger.records import SeedEntry
from ipytorchseed.ledger.store import Ledger
from tests.ledger import samples

DAY = 86_400


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The ledger's path for the commands."""
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "ledger.sqlite"


@pytest.fixture
def filled(path):
    """A ledger of two notebooks."""
    with Ledger.open(path) as ledger:
        samples.add(ledger, 30, notebook="/home/me/train.ipynb")
        samples.add(ledger, 3, notebook="/home/me/plot.ipynb", status="error", before={}, after={})
    return path


def run(*words, answer=None):
    """Run a command; return its exit code, standard output and standard error."""
    done = CliRunner().invoke(main, ["ledger", *words], input=answer)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_path_prints_the_place_and_makes_nothing(path):
    """Whether or not there is a ledger."""
    assert run("path") == (0, f"{path}\n", "")
    assert not path.parent.exists()


@pytest.mark.parametrize("command", [["show"], ["prune", "--yes"], ["prune"], ["verify"]])
def test_where_there_is_none_yet_it_says_so_and_makes_none(path, command):
    """Reading changes nothing."""
    assert run(*command) == (0, f"no ledger yet at {path}\n", "")
    assert not path.parent.exists()


def test_where_there_is_none_yet_json_is_still_json(path):
    """No runs; the message for people goes to standard error."""
    code, out, err = run("show", "--json")
    assert (code, json.loads(out)) == (0, {"schema": 1, "runs": []})
    assert "no ledger yet" in err


def test_show_prints_the_last_runs(filled):
    """Twenty by default, newest last, within 80 columns."""
    code, out, _ = run("show")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["#", "In", "Started", "Took", "Notebook", "Cell", "Moved"]
    assert [line.split()[0] for line in lines[2:]] == [str(number) for number in range(14, 34)]
    assert lines[2].split()[1] == "[14]"
    assert lines[2].endswith("python")
    assert "train.ipynb" in lines[2]
    assert "x = draw(3)" in lines[2]
    assert "error" in lines[-1]
    assert max(map(len, lines)) <= 80


def test_show_takes_a_number_and_a_notebook(filled):
    """The notebook's full name, or the end of its path."""
    for name in ("plot.ipynb", "/home/me/plot.ipynb", "me/plot.ipynb"):
        code, out, _ = run("show", "--notebook", name, "-n", "2", "--json")
        assert code == 0
        assert out.count("\n") == 1
        found = json.loads(out)
        assert found["schema"] == 1
        assert [each["id"] for each in found["runs"]] == [32, 33]
        assert {each["notebook"] for each in found["runs"]} == {"/home/me/plot.ipynb"}


def test_json_tells_of_each_run(filled):
    """The fields that other programs rely on."""
    (found,) = json.loads(run("show", "-n", "1", "--notebook", "train.ipynb", "--json")[1])["runs"]
    assert found.pop("started").endswith("Z")
    assert found == {
        "id": 30,
        "notebook": "/home/me/train.ipynb",
        "kernel": "k1",
        "cell": "c4",
        "execution_count": 30,
        "seconds": 0.5,
        "status": "ok",
        "moved": ["python"],
        "source": "x = draw(4)",
    }


def test_one_name_may_stand_for_several_notebooks(path):
    """Their runs are shown in order."""
    with Ledger.open(path) as ledger:
        for number in range(6):
            ledger.add(*samples.moved(number, notebook=f"/{number % 2}/a.ipynb"))
    out = run("show", "--notebook", "a.ipynb", "-n", "3", "--json")[1]
    assert [each["id"] for each in json.loads(out)["runs"]] == [4, 5, 6]


def test_text_that_would_move_the_cursor_is_shown_without_doing_so(path):
    """A cell may contain control characters."""
    with Ledger.open(path) as ledger:
        ledger.add(*samples.moved(source="\x1b[2Jx\udc80 = 1", notebook="a\x07.ipynb"))
    code, out, _ = run("show")
    assert code == 0
    assert out.isprintable() or set(out) - {"\n"} <= {each for each in out if each.isprintable()}
    assert "[2Jx" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["show", "--notebook", "x.ipynb"],
            "the ledger has runs of /home/me/plot.ipynb, /home/me/train.ipynb",
        ),
        (["show", "-n", "0"], "0 is not in the range x>=1"),
        (["prune", "--days", "-1"], "-1.0 is not in the range x>=0"),
        (["prune", "--size", "few"], "'few' is not a valid number"),
        (["count"], "No such command 'count'"),
    ],
)
def test_bad_input_names_what_there_is(filled, words, said):
    """The exit code is 2, as for any usage error."""
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert said in err.splitlines()[-1]


def test_an_unknown_notebook_is_one_line(filled):
    """What is wrong, and what would be right."""
    assert run("show", "--notebook", "x")[2].count("\n") == 1


def test_prune_says_what_it_removed(path):
    """By age, as requested."""
    with Ledger.open(path) as ledger:
        ledger.clock = lambda: samples.BEGIN - 20 * DAY
        samples.add(ledger, 10, started=samples.BEGIN - 20 * DAY)
    with Ledger.open(path) as ledger:
        samples.add(ledger, 5)
        ledger.log_seed(SeedEntry(1, "now", samples.BEGIN - 20 * DAY, "a", "k"))
    code, out, err = run("prune", "--days", "10", "--yes")
    assert (code, err) == (0, "")
    assert out.startswith("removed 10 runs, 20 states, ")
    assert "1 entry of the log of seeds" in out
    assert "5 runs stay" in out
    assert run("verify")[0] == 0


def test_prune_asks_first(filled):
    """It does nothing without a yes."""
    code, out, err = run("prune", "--days", "0", answer="n\n")
    assert code == 1
    assert "Drop runs older than 0 days" in out
    assert str(filled) in out
    assert "Aborted" in err
    assert run("prune", "--days", "0")[0] == 1  # no one there to ask
    assert len(json.loads(run("show", "-n", "99", "--json")[1])["runs"]) == 33


def test_prune_by_size(filled):
    """The oldest content is deleted until the rest is small enough."""
    with Ledger.open(filled) as ledger:
        for number in range(100, 700):
            ledger.add(*samples.moved(number))
    code, out, _ = run("prune", "--size", "1", "--yes")
    assert code == 0
    assert "removed 512 runs" in out
    with Ledger.open(filled) as ledger:
        assert ledger.counts().runs == 121
        assert ledger.counts().bytes < 1e6
        assert ledger.verify() == []


def test_verify_of_a_sound_ledger(filled):
    """Exit code 0, and a line."""
    code, out, err = run("verify")
    assert (code, err) == (0, "")
    assert out.startswith(f"{filled} is sound: 33 runs, ")


def test_verify_of_a_damaged_ledger(filled):
    """Exit code 1, and a line for each finding."""
    connection = sqlite3.connect(filled)
    connection.execute("UPDATE blobs SET data = x'00' WHERE id = 1")
    connection.commit()
    connection.close()
    code, out, err = run("verify")
    assert code == 1
    assert out.startswith("blob 1: its content is not")
    assert f"{filled} is damaged" in err


@pytest.mark.parametrize("command", ["show", "verify"])
def test_looking_at_garbage_says_so_and_leaves_it(filled, command):
    """One line; reading does not move the file away."""
    filled.write_bytes(b"garbage" * 1000)
    code, out, err = run(command)
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: the ledger {filled} is damaged")
    assert err.count("\n") == 1
    assert [each.name for each in filled.parent.iterdir()] == ["ledger.sqlite"]


def test_help_of_every_command(path):
    """Exit code 0, and a description."""
    for words in ([], ["path"], ["show"], ["prune"], ["verify"]):
        code, out, _ = run(*words, "--help")
        assert code == 0
        assert "Usage: " in out


def test_export_writes_a_receipt(filled, tmp_path):
    """Of the last run of each cell, to a file or standard output.

    Nothing else is printed.
    """
    code, out, err = run("export", "train.ipynb")
    told = json.loads(out)
    assert (code, err, told["kind"]) == (0, "", "ipytorchseed receipt")
    with Ledger.open(filled, read_only=True) as ledger:
        cells = {each.cell for each in ledger.runs("/home/me/train.ipynb")}
    assert len(told["cells"]) == len(cells)
    assert run("export", "train.ipynb", "-o", str(tmp_path / "r.json")) == (0, "", "")
    assert json.loads((tmp_path / "r.json").read_bytes())["cells"] == told["cells"]
    code, out, err = run("export", "other.ipynb")
    assert (code, out) == (2, "")
    assert "no runs of a notebook 'other.ipynb': the ledger has runs of " in err
    code, _, err = run("export", "train.ipynb", "-o", str(tmp_path))
    assert code == 2
    assert "is a directory" in err


def test_export_of_one_of_several_notebooks_asks_which(path):
    """If two paths end alike; without a ledger, there is nothing to write."""
    assert run("export", "train.ipynb")[0] == 2
    with Ledger.open(path) as ledger:
        for folder in ("me", "you"):
            samples.add(ledger, 1, notebook=f"/home/{folder}/train.ipynb")
    code, out, err = run("export", "train.ipynb")
    assert (code, out) == (2, "")
    assert "may be any of" in err
    assert run("export", "me/train.ipynb")[0] == 0
