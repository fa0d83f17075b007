"""Programs that a cell starts: which, and whether their output is a result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.shell import prints_no_result, scripts_of

transform = TransformerManager().transform_cell

PROGRAMS = {
    "!date": "!date",
    "!  /usr/bin/date -u": "!date",
    "!cd data && make all": "!make",
    "!mkdir -p data": "!mkdir",
    "!CUDA_VISIBLE_DEVICES=0 sudo python train.py": "!python",
    "!{sys.executable} -m pip list": "!pip",
    "!ls {folder} | wc -l": "!ls",
    "files = !ls": "!ls",
    "!!ls": "!ls",
    "%sx ls": "!ls",
    "%system ls": "!ls",
    "%%system\nls": "!ls",
    "%pip install torch": "%pip",
    "%conda list": "%conda",
    "%%bash\ndate": "%%bash",
    "%%bash --out expected\ndate": "%%bash",
    "%%time\n!date": "!date",
    "for name in names:\n    !cat {name}": "!cat",
    "!": "!",
    "x = 1": "",
    "%time f()": "",
    "%matplotlib inline": "",
    "def f():\n    !date": "",
}


@pytest.mark.parametrize("source", PROGRAMS)
def test_the_program_is_named_as_it_is_written(source):
    """Folders, variables, ``sudo`` and helpers before it are skipped."""
    assert effects_of_cell(source, transform).programs == {PROGRAMS[source]} - {""}


@pytest.mark.parametrize("call", ["f()", "list(map(f, xs))"])
def test_in_functions_it_is_named_where_they_are_called(call):
    """This applies to functions that the cell defines."""
    assert effects_of_cell(f"def f(*_):\n    !date\n{call}", transform).programs == {"!date"}


FILES = {
    "!wc -l < words.txt": {"words.txt"},
    "n = !cat 'a.csv'|sort -k2 >b.csv": {"a.csv", "b.csv"},
    "!tool --data=x.json; tail -n +1 notes.md": {"x.json", "notes.md"},
    "%%bash\nwhile read l; do echo $l; done < in.txt": {"in.txt"},
    "%system head in.txt": {"in.txt"},
    "%time f('in.txt')": {"in.txt"},
}


@pytest.mark.parametrize("source", FILES)
def test_the_files_that_a_program_is_given_are_texts_of_the_cell(source):
    """Whether such files exist is checked when the cell runs."""
    texts = effects_of_cell(source, transform).texts
    assert {text for text in texts if "." in text} == FILES[source]


FETCHING = [
    "!pip install torch",
    "%pip install -q torch",
    "pip install torch",
    "# the libraries\n!pip install git+https://x/y\n\nimport torch\nfrom y import z",
    "!{sys.executable} -m pip install torch",
    "!python3 -m pip install torch",
    "!sudo apt-get install -y graphviz",
    "!HF_HUB=1 pip install \\\n    torch",
    "%matplotlib inline\n!pip install torch",
    "%%capture\n!pip install torch",
    "%%time\n!pip install torch",
    "%%bash\nwget https://x/y.zip\nunzip y.zip",
    "!wget https://x/y.zip && unzip y.zip -d data; rm y.zip",
    "!git clone https://x/y; cd y",
    "!curl -L -o y.zip https://x/y.zip",
    "!nvidia-smi",
    "%uv pip install torch",
    "!uv sync",
    "%%writefile helpers.py\nprint(1)",
    "%%file data/helpers.py\nx = 1",
]
SHOWING = [
    "",
    "x = 1",
    "!",
    "!;",
    "!date",
    "!ls",
    "!pip list",
    "!uv pip list",
    "!pip install torch | tail -1",
    "!pip install torch && python train.py",
    "!pip install torch\nprint(1)",
    "!pip install torch\nx = f()",
    "found = !pip install torch",
    "!!pip install torch",
    "!wget -qO- https://x/y.csv",
    "!wget -O - https://x/y.csv",
    "!curl https://x/y.csv",
    "!git log",
    "!cd y",
    "%%bash\nwget https://x/y.csv\ncat y.csv",
    "%%bash",
    "%time f()",
    "pip = 3",
    "print('%%writefile')",
]


@pytest.mark.parametrize("source", FETCHING)
def test_a_cell_that_prints_no_result(source):
    """It installs, downloads or writes itself to a file; it may also import."""
    assert prints_no_result(source)


@pytest.mark.parametrize("source", SHOWING)
def test_a_cell_that_shows_something(source):
    """Its output may be a result."""
    assert not prints_no_result(source)


@given(st.text(alphabet=" !%#;&|\\\npip instalwgetO-=x\r\f", max_size=40))
def test_any_text(source):
    """No text makes it fail."""
    prints_no_result(source)
    prints_no_result(f"!{source}")
    prints_no_result(f"%%bash\n{source}")


@pytest.mark.parametrize(
    ("command", "expected"),
    {
        "ls data": ["data/"],
        "ls -la": ["./"],
        "ls -1 | wc -l": ["./"],
        "cd x && ls": [],
        "find 'my data' -name '*.csv'": ["my/", "data/", "*.csv/"],
        "cat data/*.csv > all.csv": ["data/"],
        "wc -l *.txt": ["./"],
        "python train.py --out runs": ["train.py"],
        "echo data": [],
        "grep -r 'a*b' notes": [],
        "bash ls.sh": ["ls.sh"],
    }.items(),
)
def test_scripts_and_folders(command, expected):
    """Code files and listed folders are returned, also if they do not exist."""
    assert scripts_of(command.split()) == expected
