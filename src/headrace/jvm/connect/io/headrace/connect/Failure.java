package io.headrace.connect;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a plugin has thrown, for the worker. */
final class Failure {
    private static final String HIDDEN = "[hidden]";

    private Failure() {
    }

    static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    /** Why a record failed, for Spark: the step (null: the only one), class, message and cause. */
    static Object[] ofRecord(String step, Throwable error) {
        Throwable cause = error.getCause();
        return new Object[] {step, error.getClass().getName(), String.valueOf(error.getMessage()),
            cause == null ? null : cause.getClass().getName() + ": " + cause.getMessage()};
    }

    /** The same without these secrets in message and cause. */
    static Object[] masked(Object[] failure, Collection<?> secrets) {
        for (int i = 2; i < failure.length; i++) {
            failure[i] = failure[i] == null ? null : hidden((String) failure[i], secrets);
        }
        return failure;
    }

    /** A text without these secrets. */
    static String hidden(String text, Collection<?> secrets) {
        String shown = text;
        for (Object secret : secrets) {
            shown = shown.replace((String) secret, HIDDEN);
        }
        return shown;
    }

    static Map<String, Object> of(Throwable error) {
        Map<String, Object> failure = new LinkedHashMap<>();
        failure.put("class", error.getClass().getName());
        failure.put("message", String.valueOf(error.getMessage()));
        failure.put("trace", trace(error));
        return failure;
    }
}
