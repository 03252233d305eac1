package org.example;

/** Throws when it is asked for its version. */
public class ThrowingVersionConnector extends CountingSourceConnector {
    @Override
    public String version() {
        throw new IllegalStateException("no luck in version");
    }
}
