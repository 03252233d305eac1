"""Transforms beside those of Kafka Connect: one chain over JSON, in memory and in a worker."""
