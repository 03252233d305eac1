"""Schema registries: their REST interface, as clients of Confluent's configure it."""
