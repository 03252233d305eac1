"""Dead letters: the records that failed in a chain are read, previewed with a chain, and replayed once."""
