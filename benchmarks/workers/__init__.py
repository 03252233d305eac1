"""Workers: several under kill -9, and one with many connectors."""
