"""`headrace plugins`: Kafka Connect's plugins in Java on this machine."""
