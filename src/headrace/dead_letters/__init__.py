"""Dead letters: the records that failed in a chain are read, previewed with a chain, and replayed once."""

NOT_WRITTEN = ("dropped", "failed", "refused")
"""The outcomes of a replay of a letter that was not written."""
