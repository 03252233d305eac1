"""JSON Schema: its schemas as Connect's and back, and what reads and writes data by them (`JsonSchemaReader.java`)."""
