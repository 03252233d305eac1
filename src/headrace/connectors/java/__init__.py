"""Connectors written in Java for Kafka Connect, unchanged: found on `plugin.path`, run in Spark's JVM."""
