"""The only package that talks to a broker from Python: client settings, admin calls, compacted topics, internal topics."""
