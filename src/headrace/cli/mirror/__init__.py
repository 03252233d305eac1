"""`headrace mirror`: flows between clusters, out of MirrorMaker 2's properties file."""
