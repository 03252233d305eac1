"""What a connector is, the options common to all, and the connectors: one folder for each."""
