"""A ledger that others may control is refused, and the notebook goes on."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import place
from ipytorchseed.ledger.store import Ledger
from tests.kernel import Kernel
from tests.ledger import samples

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files have no owners here")

root = pytest.mark.skipif(
    os.name == "posix" and os.geteuid() != 0, reason="only the administrator can give files away"
)

SOMEBODY = 12_345
"""A user who is not this one."""


@pytest.fixture
def path(tmp_path):
    """Where a ledger of three runs lies, in its own folder."""
    path = tmp_path / "folder" / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        samples.add(ledger, 3)
    return path


def everything(folder):
    """Return the content and rights of all files."""
    return {
        each.name: (each.read_bytes(), stat.S_IMODE(each.stat().st_mode))
        for each in folder.iterdir()
        if each.is_file()
    }


@contextmanager
def refused(path, *words):
    """Expect one line with the file and these words, for writers and readers."""
    for read_only in (False, True):
        with pytest.raises(LedgerError) as caught:
            Ledger.open(path, read_only=read_only)
        said = str(caught.value)
        assert "\n" not in said
        assert str(path.parent) in said
        for word in words:
            assert word in said
    with Ledger.open_or_set_aside(path.parent) as ledger:
        assert ledger.path is None
        assert len(ledger.notices) == 1
        assert samples.add(ledger, 1) == [1]
    yield


@root
@pytest.mark.parametrize("mode", [0o600, 0o666])
def test_a_planted_ledger_is_not_written(path, mode):
    """As somebody else may put one where this user's will be."""
    os.chown(path, SOMEBODY, SOMEBODY)
    path.chmod(mode)
    before = everything(path.parent)
    with refused(path, "belongs to another user", "IPYTORCHSEED_DATA_DIR"):
        assert everything(path.parent) == before


@pytest.mark.parametrize("mode", [0o602, 0o622, 0o666])
def test_a_ledger_that_others_can_write_is_refused(path, mode):
    """What it holds may be from anybody."""
    path.chmod(mode)
    with refused(path, "can be written by other users", "chmod 600"):
        assert stat.S_IMODE(path.stat().st_mode) == mode


@root
@pytest.mark.parametrize("end", place.SIBLINGS)
def test_a_planted_file_of_sqlites_is_not_used(path, end):
    """A log or a journal would be played back into the ledger."""
    planted = path.with_name(path.name + end)
    planted.write_bytes(b"planted" * 1000)
    os.chown(planted, SOMEBODY, SOMEBODY)
    before = everything(path.parent)
    with refused(path, "belongs to another user", end):
        assert everything(path.parent) == before


@root
def test_a_folder_of_somebody_elses_is_refused(path):
    """Its owner can put another file in the ledger's place at any moment."""
    os.chown(path.parent, SOMEBODY, SOMEBODY)
    with refused(path, "folder", "belongs to another user"):
        pass


@pytest.mark.parametrize("mode", [0o777, 0o703])
def test_a_folder_that_others_can_write_is_refused(path, mode):
    """Everybody can put another file in the ledger's place."""
    path.parent.chmod(mode)
    with refused(path, "folder", "chmod go-w"):
        pass


def test_a_device_in_the_place_of_the_folder_is_told_as_no_folder():
    """No advice is given to change who may use it: the system needs it as it is."""
    with pytest.raises(LedgerError, match="cannot be used") as failure:
        Ledger.open(Path(os.devnull, "ledger.sqlite"))
    assert "chmod" not in str(failure.value)


def test_a_sticky_folder_is_as_good_as_a_private_one(path):
    """Others cannot replace this user's files there."""
    path.parent.chmod(0o1777)
    with Ledger.open(path) as ledger:
        assert ledger.counts().runs == 3


@root
def test_a_group_with_others_in_it_is_others(path, monkeypatch):
    """A group that only this user is in is not."""
    import grp
    import pwd

    me = pwd.getpwuid(os.geteuid())
    group = grp.struct_group(("team", "x", SOMEBODY, [me.pw_name]))
    monkeypatch.setattr(grp, "getgrgid", lambda _: group)
    os.chown(path.parent, -1, SOMEBODY)
    path.parent.chmod(0o770)
    Ledger.open(path).close()
    group = grp.struct_group(("team", "x", SOMEBODY, [me.pw_name, "eve"]))
    with refused(path, "can be written by other users"):
        pass


def test_a_link_is_not_followed(path):
    """Its target stays as it was, rights and all."""
    target = path.with_name("precious")
    path.rename(target)
    target.chmod(0o644)
    path.symlink_to(target)
    before = everything(path.parent)
    with refused(path, "is a symbolic link"):
        assert everything(path.parent) == before


def test_a_dangling_link_makes_no_file(path):
    """Nor does one beside the ledger."""
    wal = path.with_name(path.name + "-wal")
    for link in (wal, path):
        link.unlink(missing_ok=True)
        link.symlink_to(path.with_name("absent"))
        with refused(path, "is a symbolic link"):
            assert not path.with_name("absent").exists()
        link.unlink()


def test_a_folder_may_be_a_link_of_this_users(path):
    """As where a home has little room."""
    path.parent.with_name("link").symlink_to(path.parent)
    with Ledger.open(path.parent.with_name("link") / path.name) as ledger:
        assert ledger.counts().runs == 3


@root
def test_a_folder_that_is_somebody_elses_link_is_refused(path):
    """Its owner can let it lead elsewhere."""
    link = path.parent.with_name("link")
    link.symlink_to(path.parent)
    os.lchown(link, SOMEBODY, SOMEBODY)
    with refused(link / path.name, "belongs to another user"):
        pass


def fifo(path):
    """Make a pipe, which waits for ever."""
    os.mkfifo(path)


def device(path):
    """Make another ``/dev/zero``, which never ends."""
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only the administrator can make devices")


@pytest.mark.parametrize("end", ["", *place.SIBLINGS])
@pytest.mark.parametrize("make", [fifo, device, Path.mkdir])
def test_only_regular_files_are_opened(path, make, end):
    """Nothing waits for ever, and nothing is read without end."""
    odd = path.with_name(path.name + end)
    odd.unlink(missing_ok=True)
    make(odd)
    script = """
import sys
from ipytorchseed.ledger.store import Ledger
with Ledger.open_or_set_aside(sys.argv[1]) as ledger:
    print(ledger.path, *ledger.notices)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path.parent)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.startswith("None ")
    assert f"{odd} is a " in done.stdout
    assert done.stdout.count("\n") == 1


def test_a_file_planted_while_the_ledger_is_being_made_is_found(path, monkeypatch):
    """Between the look and the opening, in a folder that is open to all."""
    path.unlink()
    wal = path.with_name(path.name + "-wal")
    real = place._check_folder
    looks = []

    def look(folder):
        looks.append(wal.exists())
        if len(looks) == 2:
            os.chmod(wal, 0o666)  # noqa: PTH101, S103 -- as if somebody else had made it
        real(folder)

    monkeypatch.setattr(place, "_check_folder", look)
    with pytest.raises(LedgerError, match="can be written by other users"):
        Ledger.open(path)
    assert looks == [False, True]


def test_where_files_have_no_owners_they_are_not_asked_for(path, monkeypatch):
    """As on Windows, where the bits of others mean nothing."""
    path.chmod(0o666)
    path.parent.chmod(0o777)
    with monkeypatch.context() as patched:
        patched.delattr(os, "geteuid")
        with Ledger.open(path) as ledger:
            assert ledger.counts().runs == 3


@root
def test_a_notebook_goes_on_without_a_planted_ledger(tmp_path):
    """The user gets one line, and runs are found until the kernel ends."""
    with Kernel(tmp_path) as kernel:
        kernel.ledger.parent.mkdir(mode=0o700)
        kernel.ledger.write_bytes(b"")
        kernel.ledger.chmod(0o666)
        os.chown(kernel.ledger, SOMEBODY, SOMEBODY)
        first = kernel.run("%load_ext ipytorchseed\nimport random")
        said = first.stderr + kernel.run("x = random.random()").stderr
        said += kernel.run("x = random.random()").stderr
        assert said.count("ipytorchseed: ") == 1
        assert "belongs to another user" in said
        assert "In[3]" in kernel.run("%why").displays[0]["text/plain"]
        assert kernel.ledger.read_bytes() == b""
