"""For tests and first tries, of headrace and of those who build on it."""
