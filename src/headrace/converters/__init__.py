"""Bytes to Columns and back: one file for each converter of Kafka Connect."""
