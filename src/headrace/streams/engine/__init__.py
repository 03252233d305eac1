"""Runs a topology: each sub-topology in batches, every batch one Spark job over the new records.

Data flows one way: `program` (the operators of a sub-topology, compiled once) → `task` (one batch after the other, each over
ranges of offsets) → `delivery` (one write of results and changelogs) → `store_table` (the state for the next batch).
"""
