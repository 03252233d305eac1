"""Kafka to Kafka: a source connector that mirrors topics of another cluster (KIP-310)."""
