"""The tasks of sink connectors: partitions, chain, delivery and offset commits."""
