"""The formats of Xet: xorbs, shards, and the text of a hash.

sources: https://huggingface.co/docs/xet/xorb, https://huggingface.co/docs/xet/shard, https://huggingface.co/docs/xet/api,
https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md.
Hashes are taken as the client says: BLAKE3 is not in the standard library.
"""

import struct
from dataclasses import dataclass

TAG = b"HFRepoMetaData\0UigEj{\x81W\x83\xa5\xbd\xd9\\\xcd\xd1J\xa9"
BOOKEND = b"\xff" * 32
WITH_VERIFICATION, WITH_METADATA = 1 << 31, 1 << 30
LZ4_MAGIC = 0x184D2204


@dataclass(frozen=True)
class Chunk:
    """Where it lies in the xorb with its header, and how long it is when unpacked."""

    start: int
    end: int
    scheme: int
    size: int


@dataclass(frozen=True)
class Term:
    """A part of a file: chunks of a xorb."""

    xorb: str
    start: int
    end: int
    size: int


@dataclass(frozen=True)
class FileInfo:
    hash: str
    terms: tuple[Term, ...]
    sha256: str | None

    @property
    def size(self) -> int:
        return sum(term.size for term in self.terms)


def text_of(raw: bytes) -> str:
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", raw))


def chunks_of(xorb: bytes) -> list[Chunk]:
    """ValueError where it is no xorb; what follows the chunks is its footer."""
    found, at = [], 0
    while at < len(xorb) and xorb[at : at + 7] != b"XETBLOB":
        if len(xorb) < at + 8 or xorb[at] != 0 or xorb[at + 4] > 2:
            raise ValueError("no header of a chunk")
        end = at + 8 + int.from_bytes(xorb[at + 1 : at + 4], "little")
        if end > len(xorb):
            raise ValueError("a chunk is cut off")
        found.append(Chunk(at, end, xorb[at + 4], int.from_bytes(xorb[at + 5 : at + 8], "little")))
        at = end
    return found


def unpacked(xorb: bytes, chunk: Chunk) -> bytes:
    content = xorb[chunk.start + 8 : chunk.end]
    if chunk.scheme:
        content = _lz4(content)
    if chunk.scheme == 2:
        content = _ungrouped(content)
    if len(content) != chunk.size:
        raise ValueError("a chunk has another size than its header says")
    return content


def files_of(shard: bytes) -> list[FileInfo]:
    """What a shard tells of files. ValueError where it is no shard."""
    if shard[:32] != TAG or struct.unpack_from("<Q", shard, 32)[0] != 2:
        raise ValueError("no shard of version 2")
    found, at = [], 48
    while shard[at : at + 32] != BOOKEND:
        if len(shard) < at + 48:
            raise ValueError("the shard is cut off")
        name = text_of(shard[at : at + 32])
        flags, count = struct.unpack_from("<II", shard, at + 32)
        at += 48
        terms = []
        for _ in range(count):
            size, start, end = struct.unpack_from("<III", shard, at + 36)
            terms.append(Term(text_of(shard[at : at + 32]), start, end, size))
            at += 48
        at += 48 * count if flags & WITH_VERIFICATION else 0
        sha256 = None
        if flags & WITH_METADATA:
            sha256 = text_of(shard[at : at + 32])
            at += 48
        found.append(FileInfo(name, tuple(terms), sha256))
    return found


def _ungrouped(content: bytes) -> bytes:
    """The four groups of every fourth byte, taken apart."""
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
        raise ValueError("no LZ4 frame")
    at = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    whole = bytearray()
    while size := struct.unpack_from("<I", frame, at)[0]:
        plain, size = size >> 31, size & 0x7FFFFFFF
        block = frame[at + 4 : at + 4 + size]
        if plain:
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
                more = block[at]
                at += 1
                count += more
                if more != 255:
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
        while count:  # what is copied may be what was just written
            piece = whole[start : start + min(count, offset)]
            whole += piece
            count -= len(piece)
