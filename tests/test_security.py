"""What SECURITY.md says of files that come from elsewhere, and of the network."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import ipytorchseed as its
from tests.kernel import ROOT

READ = """
import json, sys, time, torch
from pathlib import Path
import ipytorchseed as its
from ipytorchseed.ledger.records import Outputs, Outside, Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.receipts.privacy import Places
from ipytorchseed.receipts.receipt import read
from ipytorchseed.receipts.receipt import write
from ipytorchseed.trace.loading import load

BAD = "{open('p', 'w')} $(touch p); __import__('os').system('touch p')"
here = Places.here("a.ipynb")
run = Run("a.ipynb", "k", BAD, BAD, 1, time.time(), 1.0, "error", outputs=Outputs(error=BAD),
          outside=Outside(wrote=(BAD,), connected=("internal.example:443",)), notes=(BAD,),
          settings={BAD: BAD})
Path("receipt.json").write_bytes(write(BAD, [run], lambda: None, here))
with its.trace("a.trace"):
    torch.rand(2)
with its.ranks.watch(torch.nn.Linear(1, 1), folder="ranks"):
    pass
file = Path("ranks/rank-0.jsonl")
file.write_text(file.read_text().replace("Linear", "Linear " + json.dumps(BAD)[1:-1]))
with Ledger.open(Path("ledger.db")) as ledger:
    ledger.add(run, {})

def read_all():
    read("receipt.json", here)
    load("a.trace")
    its.ranks.read("ranks").text()
    with Ledger.open(Path("ledger.db"), read_only=True) as ledger:
        assert [each.source for each in ledger.runs("a.ipynb")] == [BAD], [*ledger.runs("a.ipynb")]

read_all()  # which imports what it needs
told = []
HARMLESS = {"import", "sqlite3.connect", "sqlite3.connect/handle"}

def hear(event, arguments):
    writes = event == "open" and str(arguments[1] or "r").strip("btU") not in ("r", "None")
    acts = event.partition(".")[0] in ("exec", "compile", "pickle", "marshal", "os", "subprocess",
                                       "socket", "ctypes", "shutil")
    asks = event in ("os.listdir", "os.scandir")
    if (writes or acts) and not asks and event not in HARMLESS:
        told.append(event)

sys.addaudithook(hear)
read_all()
eval("1")
print(told)
assert "internal.example" not in Path("receipt.json").read_text()
"""


def test_reading_files_from_elsewhere_runs_nothing(tmp_path):
    """Receipts, traces, rank files and ledgers.

    No code, no import, no unpickling, no writing.
    """
    env = {"PYTHONPATH": str(ROOT), "OMP_WAIT_POLICY": "PASSIVE", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['compile', 'exec']", "only what the test does itself"
    assert not (tmp_path / "p").exists()


def test_the_package_has_no_client_of_the_network():
    """It sends nothing anywhere: no module of it imports what could."""
    clients = {"aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "urllib", "urllib3"}
    for path in Path(its.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert clients.isdisjoint(name.partition(".")[0] for name in names), path
