"""Parse the formats of Xet: xorbs, shards, and hashes as text.

Sources: https://huggingface.co/docs/xet/xorb, https://huggingface.co/docs/xet/shard, https://huggingface.co/docs/xet/api,
https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md.
The hashes of the client are not checked, because BLAKE3 is not in the standard library.
"""

import struct
from dataclasses import dataclass

TAG = b"HFRepoMetaData\0UigEj{\x81W\x83\xa5\xbd\xd9\\\xcd\xd1J\xa9"
BOOKEND = b"\xff" * 32
WITH_VERIFICATION = 1 << 31
WITH_METADATA = 1 << 30
LZ4_MAGIC = 0x184D2204


@dataclass(frozen=True)
class Chunk:
    """A chunk of a xorb: its place including the header, the compression scheme and the unpacked size."""

    start: int
    end: int
    scheme: int
    size: int


@dataclass(frozen=True)
class Term:
    """A part of a file: a range of chunks of a xorb, and its unpacked size."""

    xorb: str
    start: int
    end: int
    size: int


@dataclass(frozen=True)
class FileInfo:
    """A file in a shard: its hash, its terms, and its SHA-256 if it is given."""

    hash: str
    terms: tuple[Term, ...]
    sha256: str | None

    @property
    def size(self) -> int:
        return sum(term.size for term in self.terms)


def hash_to_text(raw: bytes) -> str:
    """Return a hash in the text form of Xet: four little-endian 64-bit numbers in hexadecimal."""
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", raw))


def chunks_of(xorb: bytes) -> list[Chunk]:
    """Return the chunks of a xorb, without its footer. Raises ValueError if it is not a xorb."""
    found, at = [], 0
    while at < len(xorb) and xorb[at : at + 7] != b"XETBLOB":
        if len(xorb) < at + 8 or xorb[at] != 0 or xorb[at + 4] > 2:
            raise ValueError("not a chunk header")
        end = at + 8 + int.from_bytes(xorb[at + 1 : at + 4], "little")
        if end > len(xorb):
            raise ValueError("truncated chunk")
        found.append(Chunk(at, end, xorb[at + 4], int.from_bytes(xorb[at + 5 : at + 8], "little")))
        at = end
    return found


def unpack(xorb: bytes, chunk: Chunk) -> bytes:
    """Return the decompressed content of a chunk. Raises ValueError if its size is not that of the header."""
    content = xorb[chunk.start + 8 : chunk.end]
    if chunk.scheme:
        content = _lz4(content)
    if chunk.scheme == 2:
        content = _ungroup(content)
    if len(content) != chunk.size:
        raise ValueError("chunk size does not match its header")
    return content


def files_of(shard: bytes) -> list[FileInfo]:
    """Return the files of a shard. Raises ValueError if it is not a shard."""
    if shard[:32] != TAG or struct.unpack_from("<Q", shard, 32)[0] != 2:
        raise ValueError("not a shard of version 2")
    found, at = [], 48
    while shard[at : at + 32] != BOOKEND:
        if len(shard) < at + 48:
            raise ValueError("truncated shard")
        name = hash_to_text(shard[at : at + 32])
        flags, count = struct.unpack_from("<II", shard, at + 32)
        at += 48
        terms = []
        for _ in range(count):
            size, start, end = struct.unpack_from("<III", shard, at + 36)
            terms.append(Term(hash_to_text(shard[at : at + 32]), start, end, size))
            at += 48
        at += 48 * count if flags & WITH_VERIFICATION else 0
        sha256 = None
        if flags & WITH_METADATA:
            sha256 = hash_to_text(shard[at : at + 32])
            at += 48
        found.append(FileInfo(name, tuple(terms), sha256))
    return found


def _ungroup(content: bytes) -> bytes:
    """Interleave the bytes of the four groups; each group has every fourth byte of the content."""
    whole = bytearray(len(content))
    at = 0
    for group in range(4):
        count = len(range(group, len(content), 4))
        whole[group::4] = content[at : at + count]
        at += count
    return bytes(whole)


def _lz4(frame: bytes) -> bytes:
    magic, flags = struct.unpack_from("<IB", frame)
    if magic != LZ4_MAGIC:
        raise ValueError("not an LZ4 frame")
    at = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    whole = bytearray()
    while size := struct.unpack_from("<I", frame, at)[0]:
        is_uncompressed = size >> 31
        size = size & 0x7FFFFFFF
        block = frame[at + 4 : at + 4 + size]
        if is_uncompressed:
            whole += block
        else:
            _lz4_block(block, whole)
        at += 4 + size + (4 if flags & 16 else 0)
    return bytes(whole)


def _lz4_block(block: bytes, whole: bytearray) -> None:
    at = 0

    def length(count: int) -> int:
        nonlocal at
        if count == 15:
            while True:
                extra = block[at]
                at += 1
                count += extra
                if extra != 255:
                    break
        return count

    while at < len(block):
        token = block[at]
        at += 1
        literals = length(token >> 4)
        whole += block[at : at + literals]
        at += literals
        if at >= len(block):
            return
        offset = int.from_bytes(block[at : at + 2], "little")
        at += 2
        count = length(token & 15) + 4
        start = len(whole) - offset
        while count:  # the copied bytes may include bytes that were just written
            piece = whole[start : start + min(count, offset)]
            whole += piece
            count -= len(piece)
