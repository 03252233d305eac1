"""Standalone mode: one worker without a cluster, its stores in memory and a file."""
