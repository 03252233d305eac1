"""The base classes of connectors, and headrace's connectors, one folder for each."""
