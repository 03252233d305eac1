"""`headrace jars`: what headrace fetches beside its Python packages."""
