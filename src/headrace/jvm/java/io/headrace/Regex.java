package io.headrace;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/** Java's regular expressions on whole names. Names repeat from record to record, so the last results of each pattern are kept. */
public final class Regex {
    private static final Memo PATTERNS = new Memo() {
        Object make(String pattern) {
            return new Results(Pattern.compile(pattern));
        }
    };

    private Regex() {
    }

    /** Whether the whole text matches. */
    public static boolean matches(UTF8String text, UTF8String pattern) {
        return ((Results) PATTERNS.get(pattern)).of(text, null).matches;
    }

    /** The text with its first match replaced if it matches as a whole, else unchanged; null if the replacement is not possible. */
    public static UTF8String replace(UTF8String text, UTF8String pattern, UTF8String replacement) {
        Result result = ((Results) PATTERNS.get(pattern)).of(text, replacement);
        return result.matches ? result.replaced : text;
    }

    /** Why `replace` gives null: the class of Java's exception, a colon and its message. */
    public static UTF8String problem(UTF8String text, UTF8String pattern, UTF8String replacement) {
        Matcher matcher = ((Results) PATTERNS.get(pattern)).pattern.matcher(text.toString());
        try {
            matcher.replaceFirst(replacement.toString());
            return null;
        } catch (RuntimeException e) {
            return UTF8String.fromString(e.getClass().getName() + ": " + e.getMessage());
        }
    }

    /** The last results of one pattern, by the hash of the text. Threads may overwrite each other's, which are immutable. */
    private static final class Results {
        private static final int PLACES = 16;

        private final Pattern pattern;
        private final Result[] recent = new Result[PLACES];

        Results(Pattern pattern) {
            this.pattern = pattern;
        }

        Result of(UTF8String text, UTF8String replacement) {
            int place = text.hashCode() & (PLACES - 1);
            Result result = recent[place];
            if (result == null || !result.isOf(text, replacement)) {
                result = new Result(pattern, text.copy(), replacement);
                recent[place] = result;
            }
            return result;
        }
    }

    private static final class Result {
        final boolean matches;
        final UTF8String replaced;
        private final UTF8String text;
        private final UTF8String replacement;

        Result(Pattern pattern, UTF8String text, UTF8String replacement) {
            this.text = text;
            this.replacement = replacement;
            Matcher matcher = pattern.matcher(text.toString());
            matches = matcher.matches();
            replaced = matches && replacement != null ? replaced(matcher, replacement.toString()) : null;
        }

        private static UTF8String replaced(Matcher matcher, String replacement) {
            try {
                return UTF8String.fromString(matcher.replaceFirst(replacement));
            } catch (RuntimeException e) {
                return null;
            }
        }

        boolean isOf(UTF8String other, UTF8String otherReplacement) {
            return text.equals(other) && (replacement == otherReplacement || replacement != null && replacement.equals(otherReplacement));
        }
    }
}
