"""Checks of a machine, a worker file and its clusters before a worker is started: nothing is changed anywhere."""
