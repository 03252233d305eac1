"""Previews (dry runs) of a connector's chain with given or live records; nothing is deployed."""
