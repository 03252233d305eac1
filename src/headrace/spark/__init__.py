"""Everything that knows Spark's machinery: Java, the jars, the session, options of Spark's Kafka reader and writer."""
