from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.cluster.java_map import read, write
from headrace.errors import ConnectError
from headrace.jvm.java import find_java

PROGRAM = """
import java.io.*; import java.util.*;
class Offsets {
    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        Map<byte[], byte[]> map;
        try (var in = new ObjectInputStream(new FileInputStream(args[0]))) {
            map = (HashMap<byte[], byte[]>) in.readObject();
        }
        for (var e : map.entrySet()) System.out.println(new String(e.getKey()) + "=" + new String(e.getValue()));
        map.put("[\\"added\\",null]".getBytes(), map.values().iterator().next());
        try (var out = new ObjectOutputStream(new FileOutputStream(args[1]))) { out.writeObject(map); }
    }
}
"""
# new ObjectOutputStream(…).writeObject(…) of an empty HashMap, and of one with one entry whose value is null
EMPTY = "rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcAUH2sHDFmDRAwACRgAKbG9hZEZhY3RvckkACXRocmVzaG9sZHhwP0AAAAAAAAB3CAAAABAAAAAAeA=="


@given(st.dictionaries(st.binary(), st.none() | st.binary()))
def test_what_is_written_can_be_read(entries):
    assert read(write(entries)) == entries


def test_an_empty_map_of_java_is_read():
    assert read(base64.b64decode(EMPTY)) == {}


@pytest.mark.slow
def test_java_reads_it_and_it_reads_java(tmp_path: Path):
    source, given_file, made_file = tmp_path / "Offsets.java", tmp_path / "given", tmp_path / "made"
    source.write_text(PROGRAM, encoding="utf-8")
    entries: dict[bytes, bytes | None] = {b'["c",{"f":"a"}]': b'{"p":1}', b'["c",{"f":"b"}]': b'{"p":2}'}
    given_file.write_bytes(write(entries))
    command = [str(find_java().program), str(source), str(given_file), str(made_file)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert sorted(printed.split()) == ['["c",{"f":"a"}]={"p":1}', '["c",{"f":"b"}]={"p":2}']
    found = read(made_file.read_bytes())
    assert found.pop(b'["added",null]') in entries.values()  # one array twice: a reference in the stream
    assert found == entries


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends early or is damaged"),
        (b'{"a": 1}', "no Java serialization header"),
        (base64.b64decode("rO0ABXQAA2FiYw=="), "no object"),
        (base64.b64decode(EMPTY).replace(b"HashMap", b"TreeMap"), "Expected HashMap but found java.util.TreeMap"),
        (write({b"k": b"value"})[:-4], "ends early or is damaged"),
    ],
)
def test_anything_else_is_refused(data, message):
    with pytest.raises(ConnectError, match=message):
        read(data)
