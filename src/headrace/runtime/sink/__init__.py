"""The tasks of sink connectors: from the partitions they read to the offsets they commit."""
