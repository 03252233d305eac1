"""ProtobufConverter: Protobuf messages behind the id of their schema in a registry, and their indexes in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.config import ConfigDef
from headrace.converters.base import type_option
from headrace.converters.registered import RegisteredConverter, Writing
from headrace.converters.registered_reading import read_payload
from headrace.errors import DataError
from headrace.plugins import Kind, plugin
from headrace.protobuf.from_connect import from_connect
from headrace.protobuf.mapping import ProtobufOptions
from headrace.protobuf.to_connect import to_connect
from headrace.protobuf.types import Types
from headrace.protobuf.writing import index_bytes, writing_plan
from headrace.registry.client import RegisteredSchema
from headrace.registry.options import flag, registry_options, shared_options
from headrace.registry.reading import Reading
from headrace.values.schema import Schema
from headrace.values.sql import Sql
from headrace.values.value import Value

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext

NAME = "io.confluent.connect.protobuf.ProtobufConverter"


def _definition() -> ConfigDef:
    return ConfigDef([
        type_option(),
        *registry_options(),
        flag("enhanced.protobuf.schema.support", False, "Keep the packages of messages and enums in the names of schemas."),
        flag("scrub.invalid.names", False, "Make names of what Protobuf does not allow in them."),
        flag("int.for.enums", False, "Read enums as numbers."),
        flag("optional.for.nullables", False, "Write optional fields with the label optional, and read as optional only those."),
        flag("optional.for.proto2", True, "Tell an absent optional field of proto2 from its default."),
        flag("wrapper.for.nullables", False, "Write optional fields as wrapper messages, and read as optional only those."),
        flag("wrapper.for.raw.primitives", True, "Read a wrapper message as the value in it."),
        flag("generate.struct.for.nulls", False, "Read an absent message as one without fields."),
        flag("generate.index.for.unions", True, "Put the place of a oneof behind the name of its field."),
        flag("flatten.unions", False, "Read the members of a oneof as fields of the message."),
        *shared_options("schemas.cache.config"),
    ])  # fmt: skip


@plugin(NAME, Kind.CONVERTER)
class ProtobufConverter(RegisteredConverter):
    """Protobuf with a schema registry (Confluent's `ProtobufConverter`)."""

    format, type, indexed = "Protobuf", "PROTOBUF", True
    problems = ("Failed to deserialize data for topic {} to Protobuf: ", "Failed to serialize Protobuf data from topic {} :")

    @classmethod
    def definition(cls) -> ConfigDef:
        """The converter's options."""
        return _definition()

    @property
    def _options(self) -> ProtobufOptions:
        settings = self.settings
        return ProtobufOptions(
            enhanced=settings["enhanced.protobuf.schema.support"],
            scrub_names=settings["scrub.invalid.names"],
            int_enums=settings["int.for.enums"],
            optional_nullables=settings["optional.for.nullables"],
            optional_proto2=settings["optional.for.proto2"],
            wrapper_nullables=settings["wrapper.for.nullables"],
            wrapper_raw=settings["wrapper.for.raw.primitives"],
            struct_for_nulls=settings["generate.struct.for.nulls"],
            union_index=settings["generate.index.for.unions"],
            flatten_unions=settings["flatten.unions"],
            general_sums=settings["generalized.sum.type.support"],
        )

    def reading(self, schema: RegisteredSchema, version: int | None, indexes: Sequence[int]) -> Reading:
        """The schema of Connect, and the plan that reads the message."""
        return to_connect(Types(schema.text, self.registry.references(schema)), self._options, indexes, version)

    def read_payload(self, run: CompileContext, payload: Sql, reading: Reading) -> Value:
        """The value that the bytes are; bytes that are none are a fault."""
        return read_payload(self, run, payload, reading, True)

    def described(self, schema: Schema | None) -> tuple[str, str | None]:
        """The Protobuf schema of a schema of Connect, and the name of its message."""
        if schema is None:
            what = "Data without a schema cannot be written as Protobuf: use JsonConverter, or a transform that adds one"
            raise DataError(what)
        return from_connect(schema, self._options)

    def writing(self, schema: Schema | None, registered: RegisteredSchema) -> Writing:
        """What writes the message."""
        assert schema is not None
        types = Types(registered.text, self.registry.references(registered))
        plan, indexes = writing_plan(schema, types, from_connect(schema, self._options)[1], self._options)
        return Writing(plan, index_bytes(indexes))
