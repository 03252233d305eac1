"""OpenLineage: what the connectors of a worker read and write, as events for a data catalog (the extra `headrace[lineage]`)."""
