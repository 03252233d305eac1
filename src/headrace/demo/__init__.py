"""`headrace demo`: real data from one real cluster to another, as a newcomer's first look."""
