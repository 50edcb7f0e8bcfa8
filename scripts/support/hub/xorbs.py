"""Parse the formats of Xet, with which clients upload large files to the Hub, for the Hub double.

A xorb is a pack of compressed chunks. A shard says of which ranges of chunks, called terms, each file consists.

Sources: https://huggingface.co/docs/xet/xorb, https://huggingface.co/docs/xet/shard, https://huggingface.co/docs/xet/api,
https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md.
The hashes of the client are not checked, because BLAKE3 is not in the standard library.
"""

import struct
from dataclasses import dataclass

# Chunk header: version (1 byte), packed size (3), scheme (1), unpacked size (3).
CHUNK_HEADER = 8
STORED, LZ4, GROUPED_LZ4 = 0, 1, 2  # schemes: as it is, compressed, or compressed after grouping every fourth byte
FOOTER = b"XETBLOB"
# Shard: tag (32 bytes), version (8), size of the footer (8), then entries of 48 bytes each up to BOOKEND.
ENTRY = 48
TAG = b"HFRepoMetaData\0UigEj{\x81W\x83\xa5\xbd\xd9\\\xcd\xd1J\xa9"
BOOKEND = b"\xff" * 32
WITH_VERIFICATION = 1 << 31
WITH_METADATA = 1 << 30
LZ4_MAGIC = 0x184D2204
LZ4_HEADER = 7  # bytes: magic number (4), flags (1), size of blocks (1), checksum (1)
HAS_CONTENT_SIZE, HAS_DICTIONARY, HAS_BLOCK_CHECKSUMS = 8, 1, 16  # flags
MIN_MATCH = 4  # bytes that a match in a block has at least


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
    found = []
    at = 0
    while at < len(xorb) and not xorb.startswith(FOOTER, at):
        header = xorb[at : at + CHUNK_HEADER]
        if len(header) < CHUNK_HEADER or header[0] != 0 or header[4] > GROUPED_LZ4:
            raise ValueError("not a chunk header")
        end = at + CHUNK_HEADER + int.from_bytes(header[1:4], "little")
        if end > len(xorb):
            raise ValueError("truncated chunk")
        found.append(Chunk(at, end, header[4], int.from_bytes(header[5:8], "little")))
        at = end
    return found


def unpack(xorb: bytes, chunk: Chunk) -> bytes:
    """Return the decompressed content of a chunk. Raises ValueError if its size is not that of the header."""
    content = xorb[chunk.start + CHUNK_HEADER : chunk.end]
    if chunk.scheme != STORED:
        try:
            content = _lz4(content)
        except (struct.error, IndexError):
            raise ValueError("truncated LZ4 frame") from None
    if chunk.scheme == GROUPED_LZ4:
        content = _ungroup(content)
    if len(content) != chunk.size:
        raise ValueError("chunk size does not match its header")
    return content


def files_of(shard: bytes) -> list[FileInfo]:
    """Return the files of a shard. Raises ValueError if it is not a shard."""
    try:
        return _files_of(shard)
    except struct.error:
        raise ValueError("truncated shard") from None


def _files_of(shard: bytes) -> list[FileInfo]:
    """Return the files of a shard. Raises ValueError if it is of another version, struct.error if it is cut off.

    An entry begins with a hash of 32 bytes. That of a file has flags and the number of its terms behind it, and is followed by
    its terms, an entry for each of them if it has verification, and one with its SHA-256 if it has metadata.
    """
    if shard[:32] != TAG or struct.unpack_from("<Q", shard, 32)[0] != 2:
        raise ValueError("not a shard of version 2")
    found = []
    at = ENTRY
    while not shard.startswith(BOOKEND, at):
        flags, count = struct.unpack_from("<II", shard, at + 32)
        name = hash_to_text(shard[at : at + 32])
        at += ENTRY
        terms = []
        for _ in range(count):
            size, start, end = struct.unpack_from("<III", shard, at + 36)  # behind the hash and 4 bytes of flags
            terms.append(Term(hash_to_text(shard[at : at + 32]), start, end, size))
            at += ENTRY
        if flags & WITH_VERIFICATION:
            at += ENTRY * count
        sha256 = None
        if flags & WITH_METADATA:
            sha256 = hash_to_text(shard[at : at + 32])
            at += ENTRY
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
    """Decompress a frame of blocks. Raises ValueError, struct.error or IndexError if it is damaged."""
    magic, flags = struct.unpack_from("<IB", frame)
    if magic != LZ4_MAGIC:
        raise ValueError("not an LZ4 frame")
    at = LZ4_HEADER + (8 if flags & HAS_CONTENT_SIZE else 0) + (4 if flags & HAS_DICTIONARY else 0)
    whole = bytearray()
    while size := struct.unpack_from("<I", frame, at)[0]:  # 0 ends the frame
        is_uncompressed = size >> 31
        size = size & 0x7FFFFFFF
        block = frame[at + 4 : at + 4 + size]
        if is_uncompressed:
            whole += block
        else:
            _lz4_block(block, whole)
        at += 4 + size + (4 if flags & HAS_BLOCK_CHECKSUMS else 0)
    return bytes(whole)


def _lz4_block(block: bytes, whole: bytearray) -> None:
    """Append the content of a compressed block to `whole`. Its matches may be in earlier blocks."""
    at = 0

    def length(nibble: int) -> int:
        """Return a length of which four bits are in the token. If all are set, bytes that are added to it follow."""
        nonlocal at
        total = nibble
        extra = 255 if nibble == 15 else 0
        while extra == 255:
            extra = block[at]
            at += 1
            total += extra
        return total

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
        if not 0 < offset <= len(whole):
            raise ValueError("an LZ4 match outside of the content")
        remaining = length(token & 15) + MIN_MATCH
        start = len(whole) - offset
        while remaining:  # the copied bytes may include bytes that were just written
            piece = whole[start : start + min(remaining, offset)]
            whole += piece
            remaining -= len(piece)
