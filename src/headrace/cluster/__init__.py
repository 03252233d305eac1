"""Connect's internal topics, the state folded from them, and the herder that acts on it."""
