"""ProtobufConverter: Protobuf messages behind the id of their schema in a registry, and their indexes in it."""

from __future__ import annotations

from collections.abc import Sequence

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
from headrace.registry.options import cache_size, flag
from headrace.registry.reading import Reading
from headrace.values.compile_context import CompileContext
from headrace.values.schema import Schema
from headrace.values.sql import Sql
from headrace.values.value import Value

NAME = "io.confluent.connect.protobuf.ProtobufConverter"


@plugin(NAME, Kind.CONVERTER)
class ProtobufConverter(RegisteredConverter):
    """Protobuf with a schema registry (Confluent's `ProtobufConverter`)."""

    format, type, indexed = "Protobuf", "PROTOBUF", True
    problems = ("Failed to deserialize data for topic {} to Protobuf: ", "Failed to serialize Protobuf data from topic {} :")

    enhanced_schemas: bool = flag(
        "enhanced.protobuf.schema.support", False, "Keep the packages of messages and enums in the names of schemas."
    )
    scrub_names: bool = flag("scrub.invalid.names", False, "Make names of what Protobuf does not allow in them.")
    int_enums: bool = flag("int.for.enums", False, "Read enums as numbers.")
    optional_nullables: bool = flag(
        "optional.for.nullables", False, "Write optional fields with the label optional, and read as optional only those."
    )
    optional_proto2: bool = flag("optional.for.proto2", True, "Tell an absent optional field of proto2 from its default.")
    wrapper_nullables: bool = flag(
        "wrapper.for.nullables", False, "Write optional fields as wrapper messages, and read as optional only those."
    )
    wrapper_raw: bool = flag("wrapper.for.raw.primitives", True, "Read a wrapper message as the value in it.")
    struct_for_nulls: bool = flag("generate.struct.for.nulls", False, "Read an absent message as one without fields.")
    union_index: bool = flag("generate.index.for.unions", True, "Put the place of a oneof behind the name of its field.")
    flatten_unions: bool = flag("flatten.unions", False, "Read the members of a oneof as fields of the message.")
    schemas_cache_size: int = cache_size("schemas.cache.config")

    @property
    def _options(self) -> ProtobufOptions:
        return ProtobufOptions(
            enhanced=self.enhanced_schemas,
            scrub_names=self.scrub_names,
            int_enums=self.int_enums,
            optional_nullables=self.optional_nullables,
            optional_proto2=self.optional_proto2,
            wrapper_nullables=self.wrapper_nullables,
            wrapper_raw=self.wrapper_raw,
            struct_for_nulls=self.struct_for_nulls,
            union_index=self.union_index,
            flatten_unions=self.flatten_unions,
            general_sums=self.generalized_sum_types,
        )

    def reading(self, schema: RegisteredSchema, version: int | None, indexes: Sequence[int]) -> Reading:
        """The Connect schema, and the plan that reads the message."""
        return to_connect(Types(schema.text, self.registry.references(schema)), self._options, indexes, version)

    def read_payload(self, context: CompileContext, payload: Sql, reading: Reading) -> Value:
        """The value that the bytes encode; invalid bytes are a fault."""
        return read_payload(self, context, payload, reading, True)

    def registry_schema(self, schema: Schema | None) -> tuple[str, str | None]:
        """The Protobuf schema for a Connect schema, and the name of its message."""
        if schema is None:
            problem = "Data without a schema cannot be written as Protobuf: use JsonConverter, or a transform that adds one"
            raise DataError(problem)
        return from_connect(schema, self._options)

    def writing(self, schema: Schema | None, registered: RegisteredSchema) -> Writing:
        """The plan that writes the message, and the bytes of its indexes."""
        assert schema is not None
        types = Types(registered.text, self.registry.references(registered))
        plan, indexes = writing_plan(schema, types, from_connect(schema, self._options)[1], self._options)
        return Writing(plan, index_bytes(indexes))
