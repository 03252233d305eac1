"""Connect's internal topics, the state folded from them, the group of workers, and the herder."""
