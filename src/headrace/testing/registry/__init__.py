"""A schema registry in memory, for tests: `with SchemaRegistry() as registry: … registry.url`.

It speaks the REST interface of Confluent's registry: subjects, versions, ids, GUIDs, references, compatibility, modes, and login
by name and password. Compatibility is checked for Avro; JSON Schema and Protobuf are taken as they come.
"""

from headrace.testing.registry.server import SchemaRegistry

__all__ = ["SchemaRegistry"]
