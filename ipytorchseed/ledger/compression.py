"""Compresses bytes if that helps, and restores them."""

from __future__ import annotations

import zlib

_PLAIN, _ZLIB, _SHUFFLED = b"\0", b"\1", b"\2"

# The maximum size after decompression, in bytes.
_LARGEST = 1 << 28

# Up to this many bytes, compression saves only a fifth, while zlib needs 256 KB of memory.
SMALL = 1024

# The bytes in a sample, and the number of different byte values above which the content counts as
# random, and is not compressed. 128 random bytes have about 101 different values.
_SAMPLE, _RANDOM = 128, 85

# The size of the words to shuffle, in bytes. torch stores each 32-bit word of its Mersenne Twister
# in 64 bits (the legacy state of ``at::CPUGeneratorImpl``). Shuffling puts the first bytes of all
# words first, then the second bytes, and so on. Then such a state compresses to half its size, and
# three states fit into a page of the file.
_WORD = 8


def compress(content: bytes) -> bytes:
    """Compress bytes if that helps; ``decompress`` restores them."""
    if len(content) > SMALL and len({*content[-_SAMPLE:]}) <= _RANDOM:
        sparse = content[_WORD - 1 :: _WORD].count(0) * _WORD > len(content) * 0.9
        # the fastest level, because a cell waits
        small = zlib.compress(_shuffle(content) if sparse else content, 1)
        if len(small) < len(content):
            return (_SHUFFLED if sparse else _ZLIB) + small
    return _PLAIN + content


def decompress(data: bytes) -> bytes:
    """Decompress the result of ``compress``.

    Raises:
        ValueError: The bytes are not a result of ``compress``.
    """
    if not isinstance(data, bytes):  # SQLite stores any type in any column
        raise ValueError("it holds no bytes")  # noqa: TRY004 -- the ledger is damaged
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
