"""Avro, and JSON with schemas, through the chain of the transforms benchmark, beside converters in a JVM loop."""
