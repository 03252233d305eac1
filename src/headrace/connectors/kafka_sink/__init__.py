"""The Kafka sink connector: the direction in which KIP-310's source cannot go, out of the cluster that the worker is on."""
