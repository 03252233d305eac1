"""The mapping between JSON Schema's types and Connect's: names and options of Confluent's `JsonSchemaData`."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.values.schema import Schema

NAMESPACE = "io.confluent.connect.json"
ENUM, ONE_OF = f"{NAMESPACE}.Enum", f"{NAMESPACE}.OneOf"
GENERAL_UNION, GENERAL_ENUM = "org.apache.kafka.connect.data.Union", "org.apache.kafka.connect.data.Enum"
TYPE, VERSION, PARAMETERS, INDEX = "connect.type", "connect.version", "connect.parameters", "connect.index"
NO_VALUE = "<NULL>"
"""The symbol of an enum that represents null: not the text `null`, which is a symbol, too."""


@dataclass(frozen=True)
class JsonSchemaOptions:
    """The converter's options for the mapping."""

    additional_properties: bool = True
    """`object.additional.properties`."""
    optional_for_nonrequired: bool = False
    """`use.optional.for.nonrequired`."""
    numeric_decimals: bool = False
    """`decimal.format=NUMERIC`."""
    flatten_unions: bool = True
    """`flatten.singleton.unions`."""
    general_sums: bool = False
    """`generalized.sum.type.support`."""
    keep_null: bool = False
    """Null is written for null, not the default of the field."""

    @property
    def enum(self) -> str:
        """The parameter that marks an enum."""
        return GENERAL_ENUM if self.general_sums else ENUM


def is_union(schema: Schema) -> bool:
    """Whether a struct represents a union."""
    return schema.type == "struct" and (schema.name == ONE_OF or GENERAL_UNION in (schema.parameters or {}))


def is_enum(schema: Schema) -> bool:
    """Whether a string represents an enum."""
    parameters = schema.parameters or {}
    return schema.type == "string" and (GENERAL_ENUM in parameters or ENUM in parameters)


def is_object(schema: Schema) -> bool:
    """Whether a map is written as a JSON object."""
    return schema.keys is not None and schema.keys.type == "string" and not schema.keys.optional
