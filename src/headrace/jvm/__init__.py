"""Java: which one runs, the jars, and the compiling of the Java in `java/` and `connect/`."""
