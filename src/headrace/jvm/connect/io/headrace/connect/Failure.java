package io.headrace.connect;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a plugin has thrown, for the worker. */
final class Failure {
    private Failure() {
    }

    static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    static Map<String, Object> of(Throwable error) {
        Map<String, Object> failure = new LinkedHashMap<>();
        failure.put("class", error.getClass().getName());
        failure.put("message", String.valueOf(error.getMessage()));
        failure.put("trace", trace(error));
        return failure;
    }
}
