"""Runs a topology: each sub-topology in batches, every batch a few Spark jobs over what has come since the last one.

Data flows one way: `program` (what a sub-topology does, compiled once) → `batch` (its operators over one range of offsets) →
`delivery` (one write of results and changelogs) → `state` (what is kept for the next batch).
"""
