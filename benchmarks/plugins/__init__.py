"""Connectors in Java: the same plugins in headrace and in a real Kafka Connect worker."""
