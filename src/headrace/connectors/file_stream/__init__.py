"""Kafka Connect's file connectors: lines of a text file, for trying things out."""
