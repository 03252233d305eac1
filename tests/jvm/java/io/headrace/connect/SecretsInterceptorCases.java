package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Where the interceptor stands among those of a producer. */
final class SecretsInterceptorCases {
    private static final String OWN = SecretsInterceptor.class.getName();

    private SecretsInterceptorCases() {
    }

    static void itIsTheOnlyOneOfAProducerWithoutAny() {
        equal(with(Map.of()), OWN);
    }

    static void itIsTheOnlyOneOfAnEmptyList() {
        equal(with(Map.of("interceptor.classes", " ")), OWN);
    }

    static void itStandsBehindTheOthers() {
        equal(with(Map.of("interceptor.classes", "a.B,a.C")), "a.B,a.C," + OWN);
    }

    private static Object with(Map<String, String> settings) {
        Map<String, Object> producer = new HashMap<>(settings);
        SecretsInterceptor.addTo(producer, List.of("secret"));
        return producer.get("interceptor.classes");
    }
}
