"""`headrace project`: a folder with connectors, values per environment, and tests of chains."""
