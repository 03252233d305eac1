"""Mirrors under constant load and random faults for many minutes."""
