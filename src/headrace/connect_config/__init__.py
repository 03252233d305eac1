"""The options that connectors have in common, and how a configuration is validated (KIP-158, KIP-458, KIP-618)."""
