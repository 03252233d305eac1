"""Benchmarks: headrace beside the tool that it replaces, on the same brokers in the same run (`make bench`)."""
