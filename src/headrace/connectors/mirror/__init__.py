"""MirrorMaker 2's connectors (KIP-382): records, consumer groups' positions and heartbeats from one cluster to another."""
