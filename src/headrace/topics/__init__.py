"""Topics of connectors: how new ones are created (KIP-158), which ones are active (KIP-558)."""
