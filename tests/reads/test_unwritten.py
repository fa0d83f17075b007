"""Names that code reads only on its way to write a file."""

from __future__ import annotations

import pytest

from ipytorchseed.reads.unwritten import find_reading

WRITING = {
    "else": "if p.exists():\n    t = pd.read_csv(p)\nelse:\n    t = raw * 2\n    t.to_csv(p)",
    "not": "if not p.exists():\n    np.save(p, make(raw))\nt = np.load(p)",
    "an early return": "def get(p):\n    if p.exists():\n        return np.load(p)\n"
    "    t = raw * 2\n    np.savez(p, t=t)\n    return t",
    "a handler": "try:\n    t = np.load(p)\nexcept OSError:\n    t = raw * 2\n    np.save(p, t)",
    "a file that is opened": "if old:\n    t = 1\nelse:\n    with open(p, 'w') as f:\n"
    "        json.dump(raw, f)",
    "after it": "if new:\n    np.savetxt('a.txt', t)\n    t = raw + 1",
    "by torch": "if new:\n    t = raw.fit()\n    torch.save(t, f'{name}.pt')",
    "in native code, by its name": "if new:\n    t = raw * 2\n    save_file({'t': t}, 't.safetensors')",
    "by joblib": "if new:\n    t = raw.fit()\n    joblib.dump(t, 'm.joblib')",
    "a path's method": "if new:\n    p.write_text(str(raw))",
}
"""Code that reads ``raw`` only so."""

ALWAYS = {
    "beside": "t = raw\nif new:\n    np.save(p, raw)",
    "before a branch that writes": "t = raw\nif new:\n    np.save(p, t)",
    "where it may end before": "def get(p):\n    t = raw * 2\n    if t > 1:\n        return t\n"
    "    np.save(p, t)",
    "where it may be stopped": "for p in ps:\n    t = raw\n    if t: break\n    np.save(p, t)",
    "where what fails is caught": "try:\n    t = raw * 2\n    np.save(p, t)\nexcept OSError:\n    t = 1",
    "by a buffer": "if new:\n    t = raw\n    np.save(buffer, t)",
    "by a text": "if new:\n    t = raw\n    s = t.to_csv()",
    "by a buffer of torch": "if new:\n    t = raw\n    torch.save(t, buffer)",
    "in native code": "if new:\n    t = raw\n    save_file(t, p)",
    "by a file that is read": "with open(p) as f:\n    t = raw",
    "in a condition that writes": "if new:\n    t = raw\n    t is None or np.save(p, t)",
    "in another function": "def make(): return raw\nif new:\n    np.save(p, make())",
    "in a lambda": "if new:\n    f = lambda: raw\n    np.save(p, f())",
}


@pytest.mark.parametrize("source", WRITING.values(), ids=WRITING)
def test_on_the_way(source):
    """It was not read where nothing was written."""
    found = find_reading(source)
    assert "raw" in found.writing
    assert "raw" not in found.always


@pytest.mark.parametrize("source", ALWAYS.values(), ids=ALWAYS)
def test_whatever_happens(source):
    """It may be read, and nothing written."""
    found = find_reading(source)
    assert "raw" in found.always
    assert "raw" not in found.writing


def test_inside():
    """What functions and classes read is told apart."""
    found = find_reading("x = a\ndef f(): return b\nclass C:\n    v = c")
    assert found.inside == {"b", "c"}
    assert {"a", "b", "c"} <= found.always


def test_no_python():
    """Magics are passed over; what is no Python all the same may read anything."""
    assert find_reading("%time x\ny = a").always == {"a"}
    assert find_reading("x = = a") is None
