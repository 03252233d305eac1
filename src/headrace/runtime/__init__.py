"""From a configuration to a running Spark query and its commits."""
