"""OpenLineage: events on inputs and outputs of a worker's connectors for a data catalog (the extra `headrace[lineage]`)."""
