"""The kinds of values, and the column type that represents each.

| kind | Java class in Connect | column |
|---|---|---|
| null | – | none |
| boolean | Boolean | boolean |
| int8, int16, int32, int64 | Byte, Short, Integer, Long | bigint within the kind's range |
| float32, float64 | Float, Double | float, double |
| string, bytes | String, byte[] | string, binary |
| decimal | BigDecimal | string, its plain digits |
| date | java.util.Date | bigint, ms since the epoch |
| list, map, struct | ArrayList, HashMap, Struct | string, its JSON payload |
| huge | BigInteger (Connect wraps it to a Long, docs/parity.md) | string, its digits |
"""

from __future__ import annotations

from headrace.values.schema import DECIMAL, Schema

INTEGERS = ("int8", "int16", "int32", "int64")
NUMBERS = (*INTEGERS, "float32", "float64")
NESTED = ("list", "map", "struct")
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}

JAVA = {
    "null": "null",
    "boolean": "java.lang.Boolean",
    "int8": "java.lang.Byte",
    "int16": "java.lang.Short",
    "int32": "java.lang.Integer",
    "int64": "java.lang.Long",
    "float32": "java.lang.Float",
    "float64": "java.lang.Double",
    "string": "java.lang.String",
    "bytes": "[B",
    "decimal": "java.math.BigDecimal",
    "date": "java.util.Date",
    "list": "java.util.ArrayList",
    "map": "java.util.HashMap",
    "struct": "org.apache.kafka.connect.data.Struct",
    "huge": "java.math.BigInteger",
}
"""Java's names of the classes, as Kafka's messages give them."""

JSON = {"null": 1, "boolean": 2, "int64": 3, "float64": 4, "string": 5, "list": 6, "map": 7, "huge": 8}
"""The numbers of `JsonRead`; 0 is an absent member."""

_OF_TYPE = {"array": "list"}


def of_schema(schema: Schema) -> str:
    """The kind of the values of a schema."""
    if schema.logical == DECIMAL:
        return "decimal"
    if schema.logical:
        return "date"
    return _OF_TYPE.get(schema.type, schema.type)
