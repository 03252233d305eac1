package org.example;

/** Needs a class that is left out of its archive. */
public class NeedyConnector extends CountingSourceConnector {
    private final Helper helper = new Helper();

    @Override
    public String toString() {
        return helper.toString();
    }
}
