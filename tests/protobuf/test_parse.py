"""The parser of `.proto` files beside protoc: valid files have the same types, invalid ones are refused with one sentence."""

from __future__ import annotations

import base64
import re
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry.confluent import meta_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import Default
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import DataError
from headrace.protobuf.model import File
from headrace.protobuf.parse import parse
from headrace.protobuf.serialized import as_text
from tests.protobuf.descriptors import types_of, types_of_descriptor

GOLDEN = Path(__file__).parents[1] / "golden" / "protobuf"
"""Files with the corners of each syntax, and what protoc 35.1 makes of them (`--descriptor_set_out`)."""
CORNERS = {syntax: (GOLDEN / f"{syntax}.proto").read_text(encoding="utf-8") for syntax in ("proto2", "proto3")}
TOKEN = re.compile(r"\w+|\"[^\"]*\"|\s+|.", re.DOTALL)
PUBLIC = {
    str(path): path
    for path in files("googleapis-common-protos") or ()
    if path.suffix == ".proto" and not path.stem.endswith("_proto")
}
"""Files of Google's, whose descriptors are installed as well."""


def descriptor(syntax: str) -> FileDescriptorProto:
    [file] = FileDescriptorSet.FromString((GOLDEN / f"{syntax}.pb").read_bytes()).file
    return file


def in_base64(file: FileDescriptorProto) -> str:
    return base64.b64encode(file.SerializeToString()).decode()


@pytest.mark.parametrize("syntax", list(CORNERS))
def test_the_corners_of_the_syntax_are_parsed_as_protoc_does(syntax: str) -> None:
    file, official = parse(CORNERS[syntax]), descriptor(syntax)
    assert (file.package, list(file.imports)) == (official.package, list(official.dependency))
    assert types_of(file) == types_of_descriptor(official)
    assert types_of(parse("\ufeff" + CORNERS[syntax].replace("\n", "\r\n"))) == types_of_descriptor(descriptor(syntax))


@pytest.mark.parametrize("syntax", list(CORNERS))
def test_a_descriptor_in_base64_is_the_file_that_it_was_made_of(syntax: str) -> None:
    assert types_of(parse(as_text(in_base64(descriptor(syntax))))) == types_of_descriptor(descriptor(syntax))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_googles_public_files_are_parsed_as_protoc_does(name: str) -> None:
    __import__(name.removesuffix(".proto").replace("/", ".") + "_pb2")  # which adds the descriptor that protoc made
    official = FileDescriptorProto.FromString(Default().FindFileByName(name).serialized_pb)
    assert types_of(parse(PUBLIC[name].read_text())) == types_of_descriptor(official)


@pytest.mark.parametrize("options", [
    "default = 1e-5", "default = 1.5e+3", "default = -inf", "default = nan", "default = - .5", "(a.b).c = { a <b: 1> }",
    "(a) = { [a.b/c.D] { e: 'f' } }", "(a) = { a: 1 b: 2, c: 3; d { } }", "(a) = { l: [1, -2, {}] }", "(a) = ['x', 'y']",
    "(.a) = b",
])  # fmt: skip
def test_values_of_options_may_have_any_form(options: str) -> None:
    [message] = parse(f"message R {{ optional float a = 1 [{options}, packed = false]; }}").messages
    assert [(field.name, field.packed) for field in message.fields] == [("a", False)]


@pytest.mark.parametrize("text", [
    "message A { optional int32 a = 1 [x = [", "message A { optional int32 a = 1 [x = {", "message A { optional int32 a = 1 [x",
    "message A { oneof", "message A { reserved 1,", "message A { extensions", "enum E {", "service S { rpc", "extend", "import",
    "option", 'syntax = "proto3"', "message A { optional int32 a = 1 [x = ", "/*", '"', "message A { map<", "package a.",
])  # fmt: skip
def test_a_file_that_ends_early_is_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"^The Protobuf schema has ('.'|its end) in line 1[ ,]"):
        parse(text)


@pytest.mark.parametrize("number", ["09", "0x", "1a", "1.2.3", "00.5", "0x1.5", "1e"])
def test_numbers_are_those_of_protobuf(number: str) -> None:
    with pytest.raises(DataError, match="in line 1, which is no part of one"):
        parse(f"message A {{ optional double a = 1 [default = {number}]; }}")


@pytest.mark.parametrize("form", [
    '(confluent.field_meta).params = { key: "scale" value: "2" }',
    '(.confluent.field_meta) = { doc: "}" params: [{ key: "scale", value: "1" }, { key: "scale", value: "2" }] }',
    "(confluent.field_meta) = { params < key: 'sc' 'ale'; value: '\\062' > tags: 'x' rules { [a.b/C] { } } }",
])  # fmt: skip
def test_parameters_of_connect_are_read_in_every_form(form: str) -> None:
    [message] = parse(f'syntax = "proto3"; message R {{ int32 a = 1 [{form}]; }}').messages
    assert message.fields[0].params == {"scale": "2"}


def test_parameters_of_connect_are_read_from_a_descriptor() -> None:
    file = FileDescriptorProto(name="a.proto", syntax="proto3")
    field = file.message_type.add(name="R").field.add(name="a", number=1, type=5, label=1)
    meta: Any = meta_pb2
    field.options.Extensions[meta.field_meta].params['a"\\\n\u00e9'] = "2"
    [message] = parse(as_text(in_base64(file))).messages
    assert message.fields[0].params == {'a"\\\n\u00e9': "2"}


def mutated(pieces: list[str], changes: list[tuple[int, int, str]]) -> str:
    """The pieces after some were taken out, put elsewhere or replaced."""
    for place, other, new in changes:
        at, from_ = place % len(pieces), other % len(pieces)
        pieces[at : at + other % 3] = [new or pieces[from_]]
    return "".join(pieces)


def parsed_or_refused(text: str) -> File | None:
    try:
        return parse(as_text(text))
    except DataError as error:
        assert str(error).startswith("The Protobuf ")
        assert "\n" not in str(error)
        return None


NEW = st.sampled_from(["", "{", "}", "[", "]", "<", ">", "(", ")", ";", ",", ".", "=", "-", "/*", "//", '"', "'\\q'", "\\", "09",
                       "1e5", "max", "group", "oneof", "map", "é", "\n"])  # fmt: skip


@given(
    st.sampled_from(sorted(CORNERS)), st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 9999), NEW), min_size=1, max_size=4)
)
def test_a_mutated_file_is_parsed_or_refused_with_one_sentence(syntax: str, changes: list[tuple[int, int, str]]) -> None:
    parsed_or_refused(mutated(TOKEN.findall(CORNERS[syntax]), changes))


@given(st.sampled_from(sorted(CORNERS)), st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_mutated_descriptor_is_parsed_or_refused_with_one_sentence(syntax: str, changes: list[tuple[int, int]]) -> None:
    data = bytearray((descriptor(syntax)).SerializeToString())
    for place, byte in changes:
        data[place % len(data)] = byte
    parsed_or_refused(base64.b64encode(data).decode())


@given(st.text())
def test_any_text_is_parsed_or_refused_with_one_sentence(text: str) -> None:
    parsed_or_refused(text)
