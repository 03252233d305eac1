"""Access to Spark: the session, its jars and JVM, the data plane, and Spark's Kafka reader and writer."""
