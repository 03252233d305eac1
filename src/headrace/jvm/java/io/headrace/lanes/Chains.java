package io.headrace.lanes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The chains of a feed in one lane, by what each of them knows: records with many schemas need many. For one thread. */
final class Chains {
    private static final int MOST = 16_384;

    private final Map<String, Chain> byNeed = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Chain> eldest) {
            return size() > MOST; // it is asked for again
        }
    };

    /** The chain that knows what another one needs; null if there is none, or nothing is needed. */
    Chain of(String need) {
        return need == null ? null : byNeed.get(need);
    }

    void put(Chain chain, List<String> needs) {
        for (String need : needs) {
            byNeed.put(need, chain);
        }
    }
}
