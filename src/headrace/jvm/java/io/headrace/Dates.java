package io.headrace;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.HashMap;
import java.util.Locale;
import java.util.TimeZone;
import org.apache.spark.unsafe.types.UTF8String;

/** Dates as text by Java's SimpleDateFormat in UTC, whose patterns users of Kafka Connect write. */
public final class Dates {
    private static final ThreadLocal FORMATS = new ThreadLocal();
    private static final Memo FAST = new Memo() {
        Object make(String pattern) {
            FastDate fast = FastDate.of(pattern);
            return fast == null ? (Object) pattern : fast;
        }
    };

    private Dates() {
    }

    /** @param millis since the epoch */
    public static UTF8String format(long millis, UTF8String pattern) {
        Object fast = FAST.get(pattern);
        UTF8String usual = fast instanceof FastDate ? ((FastDate) fast).format(millis) : null;
        return usual != null ? usual : UTF8String.fromString(formatter(pattern).format(new Date(millis)));
    }

    /** Milliseconds since the epoch; null if the text does not begin with a date of this pattern. */
    public static Long parse(UTF8String text, UTF8String pattern) {
        SimpleDateFormat formatter = formatter(pattern);
        Date date = formatter.parse(text.toString(), new ParsePosition(0));
        return date == null ? null : Long.valueOf(date.getTime());
    }

    /** The text of a text's date, by the same format: in the time zone that the text names. */
    public static UTF8String again(UTF8String text, UTF8String pattern) {
        SimpleDateFormat formatter = formatter(pattern);
        Date date = formatter.parse(text.toString(), new ParsePosition(0));
        return date == null ? null : UTF8String.fromString(formatter.format(date));
    }

    private static SimpleDateFormat formatter(UTF8String pattern) {
        HashMap formats = (HashMap) FORMATS.get();
        if (formats == null) {
            formats = new HashMap();
            FORMATS.set(formats);
        }
        SimpleDateFormat known = (SimpleDateFormat) formats.get(pattern);
        if (known == null) {
            known = new SimpleDateFormat(pattern.toString(), Locale.getDefault(Locale.Category.FORMAT));
            known.setTimeZone(TimeZone.getTimeZone("UTC"));
            formats.put(pattern.copy(), known);
        } else if (!TimeZone.getTimeZone("UTC").equals(known.getTimeZone())) {
            known.setTimeZone(TimeZone.getTimeZone("UTC")); // a text with an offset of its own leaves it behind
        }
        return known;
    }
}
