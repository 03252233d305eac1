package org.example;

import java.util.Map;
import org.apache.kafka.connect.errors.RetriableException;

/** A fault that passes by itself: the first `passing` calls fail with it. */
final class Passing {
    private int left;

    Passing(Map<String, ?> props) {
        Object calls = props.get("passing");
        left = calls == null ? 0 : Integer.parseInt((String) calls);
    }

    void check() {
        if (left > 0) {
            left--;
            throw new RetriableException("not yet");
        }
    }
}
