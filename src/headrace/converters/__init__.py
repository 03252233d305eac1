"""Converters of Kafka Connect, one module each: bytes to Connect data in Columns, and back."""
