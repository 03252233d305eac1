"""Topics of connectors: how new ones are made (KIP-158), which ones are in use (KIP-558)."""
