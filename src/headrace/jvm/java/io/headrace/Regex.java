package io.headrace;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/** Java's regular expressions on whole names. */
public final class Regex {
    private static final Memo PATTERNS = new Memo() {
        Object make(String pattern) {
            return Pattern.compile(pattern);
        }
    };

    private Regex() {
    }

    /** Whether the whole text matches. */
    public static boolean matches(UTF8String text, UTF8String pattern) {
        return matcher(text, pattern).matches();
    }

    /** The text with its first match replaced if it matches as a whole, else unchanged; null if the replacement is not possible. */
    public static UTF8String replace(UTF8String text, UTF8String pattern, UTF8String replacement) {
        Matcher matcher = matcher(text, pattern);
        if (!matcher.matches()) {
            return text;
        }
        try {
            return UTF8String.fromString(matcher.replaceFirst(replacement.toString()));
        } catch (RuntimeException e) {
            return null;
        }
    }

    private static Matcher matcher(UTF8String text, UTF8String pattern) {
        return ((Pattern) PATTERNS.get(pattern)).matcher(text.toString());
    }
}
