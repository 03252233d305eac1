"""Reads and writes one type of Java serialization: a HashMap<byte[], byte[]>.

That is the file `offset.storage.file.filename` of Connect's standalone mode, so headrace and Kafka Connect can use the same
file. Source: the Java Object Serialization Specification, chapter 6.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from headrace.errors import ConnectError

_MAGIC = b"\xac\xed\x00\x05"
_NULL, _REFERENCE, _CLASS, _OBJECT, _ARRAY, _BLOCK, _END = 0x70, 0x71, 0x72, 0x73, 0x75, 0x77, 0x78
_FIRST_HANDLE = 0x7E0000
_HASH_MAP = (
    b"\x72\x00\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16\x60\xd1\x03\x00\x02"  # class, serialVersionUID, flags, two fields:
    b"F\x00\x0aloadFactorI\x00\x09threshold\x78\x70"
)
_BYTES = b"\x72\x00\x02[B\xac\xf3\x17\xf8\x06\x08\x54\xe0\x02\x00\x00\x78\x70"
_BYTES_HANDLE = _FIRST_HANDLE + 2  # after the map's class and the map


def write(entries: Mapping[bytes, bytes | None]) -> bytes:
    """Serialize a map as `ObjectOutputStream.writeObject(new HashMap<byte[], byte[]>(…))` does."""
    out = bytearray(_MAGIC + bytes([_OBJECT]) + _HASH_MAP)
    out += struct.pack(">fi", 0.75, 12)  # load factor and threshold: without effect
    out += struct.pack(">BBii", _BLOCK, 8, 16, len(entries))
    described = False
    for item in (part for entry in entries.items() for part in entry):
        if item is None:
            out.append(_NULL)
            continue
        out.append(_ARRAY)
        out += struct.pack(">Bi", _REFERENCE, _BYTES_HANDLE) if described else _BYTES
        described = True
        out += struct.pack(">i", len(item)) + item
    out.append(_END)
    return bytes(out)


def read(data: bytes) -> dict[bytes, bytes | None]:
    """The map in a serialized HashMap<byte[], byte[]>; entries with a null key are left out.

    Raises ConnectError if the data is anything else.
    """
    try:
        return _ObjectStreamReader(data).map()
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ConnectError(f"Expected a serialized HashMap of byte arrays, but it ends early or is damaged ({error})") from error


class _ObjectStreamReader:
    """Reads the stream; objects and classes get handles in the order of their beginning."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._handles: list[object] = []

    def map(self) -> dict[bytes, bytes | None]:
        self._expect(self._read_bytes(4) == _MAGIC, "no Java serialization header")
        self._expect(self._byte() == _OBJECT, "no object")
        name = self._class()
        if name != "java.util.HashMap":
            raise ConnectError(f"Expected HashMap but found {name}")
        self._handles.append("the map")
        self._unpack(">fi")
        self._expect((self._byte(), self._byte()) == (_BLOCK, 8), "no size of the map")
        _, size = self._unpack(">ii")
        entries = [(self._bytes(), self._bytes()) for _ in range(size)]
        self._expect(self._byte() == _END, "no end of the map")
        return {key: value for key, value in entries if key is not None}

    def _class(self) -> str:
        """The name in a class description, new or by reference; the fields of the class have to be primitive."""
        kind = self._byte()
        if kind == _REFERENCE:
            return str(self._referenced())
        self._expect(kind == _CLASS, "no class")
        name = self._text()
        self._handles.append(name)
        self._read_bytes(8 + 1)  # serialVersionUID, flags
        for _ in range(self._unpack(">H")[0]):
            self._expect(chr(self._byte()) in "BCDFIJSZ", f"objects as fields of {name}")
            self._text()
        self._expect((self._byte(), self._byte()) == (_END, _NULL), f"a parent class of {name}")
        return name

    def _bytes(self) -> bytes | None:
        kind = self._byte()
        if kind == _NULL:
            return None
        if kind == _REFERENCE:
            referenced = self._referenced()
            self._expect(isinstance(referenced, bytes), "a reference to something else")
            return referenced if isinstance(referenced, bytes) else None
        self._expect(kind == _ARRAY and self._class() == "[B", "an entry that is no byte array")
        handle = len(self._handles)
        self._handles.append(None)
        content = self._read_bytes(self._unpack(">i")[0])
        self._handles[handle] = content
        return content

    def _referenced(self) -> object:
        return self._handles[self._unpack(">i")[0] - _FIRST_HANDLE]

    def _text(self) -> str:
        return self._read_bytes(self._unpack(">H")[0]).decode()

    def _unpack(self, layout: str) -> tuple:
        return struct.unpack(layout, self._read_bytes(struct.calcsize(layout)))

    def _byte(self) -> int:
        return self._read_bytes(1)[0]

    def _read_bytes(self, count: int) -> bytes:
        content = self._data[self._at : self._at + count]
        if count < 0 or len(content) < count:
            raise IndexError(f"byte {self._at + count} of {len(self._data)}")
        self._at += count
        return content

    def _expect(self, true: bool, actual: str) -> None:
        if not true:
            raise ConnectError(f"Expected a serialized HashMap of byte arrays, but found {actual} before byte {self._at}")
