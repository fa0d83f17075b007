"""Compresses bytes if that helps, and restores them."""

from __future__ import annotations

import zlib

_PLAIN, _ZLIB, _SHUFFLED = b"\0", b"\1", b"\2"

# The most bytes that are decompressed.
_LARGEST = 1 << 28

# Bytes up to which compression gains little: a fifth, for 256 KB of memory in zlib.
SMALL = 1024

# Bytes of a sample, and the number of different ones above which they count as random. 101 are
# expected in random bytes, which cannot be compressed.
_SAMPLE, _RANDOM = 128, 85

# Bytes of a word that is shuffled. torch stores the 32 bits of its Mersenne Twister's words in 64
# (the legacy state of ``at::CPUGeneratorImpl``). If the first bytes of all words come first, then
# the second ones, and so on, such a state compresses to half: three of them then fit into a page
# of the file.
_WORD = 8


def compress(content: bytes) -> bytes:
    """Compress bytes if that helps; ``decompress`` restores them."""
    if len(content) > SMALL and len({*content[-_SAMPLE:]}) <= _RANDOM:  # random does not shrink
        sparse = content[_WORD - 1 :: _WORD].count(0) * _WORD > len(content) * 0.9
        # the fastest level, as a cell waits
        small = zlib.compress(_shuffle(content) if sparse else content, 1)
        if len(small) < len(content):
            return (_SHUFFLED if sparse else _ZLIB) + small
    return _PLAIN + content


def decompress(data: bytes) -> bytes:
    """Decompress the result of ``compress``.

    Raises:
        ValueError: The bytes are not such a result.
    """
    if not isinstance(data, bytes):  # SQLite stores any type in any column
        raise ValueError("it holds no bytes")  # noqa: TRY004 -- what was read is damaged
    kind, rest = data[:1], data[1:]
    if kind == _PLAIN:
        return rest
    if kind not in (_ZLIB, _SHUFFLED):
        raise ValueError(f"its bytes are of an unknown kind {kind!r}")
    try:
        inflate = zlib.decompressobj()
        content = inflate.decompress(rest, _LARGEST)
    except zlib.error as error:
        raise ValueError(f"its bytes cannot be decompressed: {error}") from error
    if not inflate.eof:
        raise ValueError("its bytes cannot be decompressed: they are cut off, or too many")
    return _unshuffle(content) if kind == _SHUFFLED else content


def _shuffle(content: bytes) -> bytes:
    return b"".join(content[at::_WORD] for at in range(_WORD))


def _unshuffle(content: bytes) -> bytes:
    words, begin = bytearray(len(content)), 0
    for at in range(_WORD):
        end = begin + len(range(at, len(content), _WORD))
        words[at::_WORD] = content[begin:end]
        begin = end
    return bytes(words)
