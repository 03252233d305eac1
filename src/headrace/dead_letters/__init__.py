"""Dead letters: the records that failed in a chain, looked at, tried again, and replayed once."""
