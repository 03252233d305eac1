package io.headrace;

import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What was made of a constant argument (a pattern, a list of names), to be found again for every record: by identity, as the
 * constants of a plan are the same objects, and for new ones by their text.
 */
abstract class Memo {
    private static final int PLACES = 64;

    private final ConcurrentHashMap made = new ConcurrentHashMap();
    private volatile Object[] recent = new Object[0];

    /** Makes the value; called once for each text. */
    abstract Object make(String text);

    final Object get(UTF8String text) {
        Object[] pairs = recent;
        for (int i = 0; i < pairs.length; i += 2) {
            if (pairs[i] == text) {
                return pairs[i + 1];
            }
        }
        return find(text);
    }

    private synchronized Object find(UTF8String text) {
        Object value = made.get(text);
        if (value == null) {
            value = make(text.toString());
            made.put(text.copy(), value);
        }
        int kept = Math.min(recent.length, PLACES - 2);
        Object[] pairs = new Object[kept + 2];
        System.arraycopy(recent, 0, pairs, 2, kept);
        pairs[0] = text;
        pairs[1] = value;
        recent = pairs;
        return value;
    }
}
