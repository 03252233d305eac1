"""What a connector is, and the connectors: one folder for each."""
