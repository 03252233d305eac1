"""SparkSink: Kafka's records to whatever Spark can write."""
