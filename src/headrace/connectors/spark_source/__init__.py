"""SparkSource: whatever Spark can read, into Kafka."""
