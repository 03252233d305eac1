package io.headrace;

import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads a JSON object from its bytes as {@link JsonRead} does with a parser, at a fraction of the cost: the usual case. Where it is
 * not certain that a parser reads the same (escapes in a name or in a value that is asked for, numbers that a double may not hold,
 * texts that are long or not well-formed) it says no.
 */
final class JsonScan {
    private static final int LONGEST = 32768; // bytes: below all limits that Jackson has for names, texts and numbers
    private static final int DEEPEST = 100; // Jackson reads 1,000
    private static final int LONGEST_NUMBER = 100; // characters; Jackson reads 1,000
    private static final int SURE_DIGITS = 18; // a number of so many fits into a long
    private static final int EXACT_DIGITS = 15; // integers of so many, and powers of ten up to 22, are doubles
    private static final double[] POWERS = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

    private final byte[] json;
    private final byte[][] names;
    private final Object[] row;
    private final boolean texts;
    private final boolean floats;
    private final boolean signed;

    /** @param names the members that are asked for; @param row see {@link JsonRead}; the flags: its modes "t", "f" and "z" */
    JsonScan(byte[] json, byte[][] names, Object[] row, boolean texts, boolean floats, boolean signed) {
        this.json = json;
        this.names = names;
        this.row = row;
        this.texts = texts;
        this.floats = floats;
        this.signed = signed;
    }

    /** Fill the row, if it is certain what with. @param exact nothing may follow the object; @return whether the row is filled */
    boolean read(boolean exact) {
        if (json.length > LONGEST) {
            return false;
        }
        int start = space(0);
        int end = start < json.length && json[start] == '{' ? members(start + 1) : -1;
        if (end < 0 || exact && space(end) < json.length) {
            return false;
        }
        row[1] = JsonRead.MAP;
        row[4] = UTF8String.fromBytes(json, start, end - start);
        return true;
    }

    /** Read the members of the object. @return the place after it, or -1 */
    private int members(int first) {
        byte[] rest = null; // the text of the members that are not asked for, once it is not one part of the whole
        int length = 0;
        int keptFrom = first;
        int at = space(first);
        boolean ends = is(at, '}');
        while (!ends) {
            int name = at;
            int nameEnd = NormalJson.string(json, at, false);
            at = nameEnd < 0 ? -1 : space(nameEnd);
            if (!is(at, ':')) {
                return -1;
            }
            at = space(at + 1);
            int wanted = wanted(name + 1, nameEnd - 1);
            at = wanted < 0 ? skip(at, 1) : put(JsonRead.FIRST + 4 * wanted, at);
            if (at < 0) {
                return -1;
            }
            at = space(at);
            ends = is(at, '}');
            if (!ends) {
                if (!is(at, ',')) {
                    return -1;
                }
                at = space(at + 1);
            }
            if (wanted >= 0) {
                rest = rest == null ? new byte[json.length] : rest;
                System.arraycopy(json, keptFrom, rest, length, name - keptFrom);
                length += name - keptFrom;
                keptFrom = at;
            }
        }
        if (names.length > 0) {
            rest(rest, length, keptFrom, at);
        }
        return at + 1;
    }

    private void rest(byte[] parts, int length, int keptFrom, int end) {
        byte[] text = parts == null ? json : parts;
        int from = parts == null ? keptFrom : 0;
        int to = parts == null ? end : length + end - keptFrom;
        if (parts != null) {
            System.arraycopy(json, keptFrom, parts, length, end - keptFrom);
        }
        while (to > from && (text[to - 1] <= ' ' || text[to - 1] == ',')) {
            to--;
        }
        while (from < to && text[from] <= ' ' && text[from] >= 0) {
            from++;
        }
        row[5] = to > from ? UTF8String.fromBytes(text, from, to - from) : null;
    }

    private int wanted(int from, int to) {
        for (int i = 0; i < names.length; i++) {
            if (names[i].length == to - from && Arrays.equals(names[i], 0, to - from, json, from, to)) {
                return i;
            }
        }
        return -1;
    }

    /** Read the value of a member that is asked for. @return the place after it, or -1 */
    private int put(int column, int from) {
        if (from >= json.length) {
            return -1;
        }
        JsonRead.clear(row, column);
        byte first = json[from];
        int end;
        if (first == '"') {
            end = NormalJson.string(json, from, false);
            return end < 0 ? -1 : put(column, JsonRead.TEXT, from + 1, end - 1, end);
        }
        if (first == '{' || first == '[') {
            end = skip(from, 1);
            return end < 0 ? -1 : put(column, first == '{' ? JsonRead.MAP : JsonRead.LIST, from, end, end);
        }
        if (first == 't' || first == 'f') {
            row[column] = JsonRead.BOOLEAN;
            row[column + 1] = first == 't' ? 1L : 0L;
            return NormalJson.word(json, from, first == 't' ? "true" : "false");
        }
        if (first == 'n') {
            row[column] = JsonRead.NULL;
            return NormalJson.word(json, from, "null");
        }
        return number(column, from);
    }

    private int put(int column, byte kind, int from, int to, int end) {
        row[column] = kind;
        row[column + 3] = UTF8String.fromBytes(json, from, to - from);
        return end;
    }

    /** Read a number that a long or, without an exponent, a double is certain to hold. */
    private int number(int column, int from) {
        boolean negative = json[from] == '-';
        int first = negative ? from + 1 : from;
        int at = first;
        int point = -1;
        long digits = 0;
        while (at < json.length && (isDigit(at) || json[at] == '.' && point < 0) && at - first <= SURE_DIGITS) {
            if (json[at] == '.') {
                point = at;
            } else {
                digits = 10 * digits + json[at] - '0';
            }
            at++;
        }
        int whole = (point < 0 ? at : point) - first;
        boolean zeros = is(first, '0') && (whole > 1 || negative && point < 0);
        if (whole == 0 || whole > SURE_DIGITS || zeros || !ends(at)) {
            return -1;
        }
        long number = negative ? -digits : digits;
        if (point < 0) {
            row[column] = JsonRead.INTEGER;
            row[column + 1] = number;
            row[column + 2] = (double) number;
            row[column + 3] = texts ? UTF8String.fromBytes(json, from, at - from) : null;
            return at;
        }
        int places = at - point - 1;
        if (places == 0 || whole + places > EXACT_DIGITS || texts) {
            return -1;
        }
        double fraction = digits / POWERS[places];
        fraction = negative ? -fraction : fraction;
        fraction = signed ? fraction : fraction + 0.0;
        row[column] = JsonRead.FRACTION;
        row[column + 1] = (long) fraction;
        row[column + 2] = fraction;
        row[column + 3] = floats && JsonRead.roundsTwice(fraction) ? UTF8String.fromBytes(json, from, at - from) : null;
        return at;
    }

    /** The place after a value of any kind, or -1. @param depth how many objects and lists it is in */
    private int skip(int from, int depth) {
        if (from >= json.length || depth > DEEPEST) {
            return -1;
        }
        switch (json[from]) {
            case '"':
                return NormalJson.string(json, from, true);
            case '{':
            case '[':
                return items(from, depth, json[from] == '{');
            case 't':
                return NormalJson.word(json, from, "true");
            case 'f':
                return NormalJson.word(json, from, "false");
            case 'n':
                return NormalJson.word(json, from, "null");
            default:
                return number(from);
        }
    }

    private int items(int from, int depth, boolean isObject) {
        int at = space(from + 1);
        char last = isObject ? '}' : ']';
        if (is(at, last)) {
            return at + 1;
        }
        while (true) {
            if (isObject) {
                at = NormalJson.string(json, at, true);
                at = at < 0 ? -1 : space(at);
                if (!is(at, ':')) {
                    return -1;
                }
                at = space(at + 1);
            }
            at = skip(at, depth + 1);
            if (at < 0) {
                return -1;
            }
            at = space(at);
            if (is(at, last)) {
                return at + 1;
            }
            if (!is(at, ',')) {
                return -1;
            }
            at = space(at + 1);
        }
    }

    /** The place after a number that is not asked for. */
    private int number(int from) {
        int first = is(from, '-') ? from + 1 : from;
        int at = digits(first);
        if (at == first || is(first, '0') && at - first > 1) {
            return -1;
        }
        if (is(at, '.')) {
            int fraction = at + 1;
            at = digits(fraction);
            if (at == fraction) {
                return -1;
            }
        }
        if (is(at, 'e') || is(at, 'E')) {
            int exponent = is(at + 1, '+') || is(at + 1, '-') ? at + 2 : at + 1;
            at = digits(exponent);
            if (at == exponent) {
                return -1;
            }
        }
        return ends(at) && at - first <= LONGEST_NUMBER ? at : -1;
    }

    private int digits(int from) {
        int at = from;
        while (at < json.length && isDigit(at)) {
            at++;
        }
        return at;
    }

    private boolean isDigit(int at) {
        return json[at] >= '0' && json[at] <= '9';
    }

    /** Whether a number may end here. */
    private boolean ends(int at) {
        return at < json.length && (json[at] == ',' || json[at] == '}' || json[at] == ']' || isSpace(json[at]));
    }

    private int space(int from) {
        int at = from;
        while (at < json.length && isSpace(json[at])) {
            at++;
        }
        return at;
    }

    private static boolean isSpace(byte character) {
        return character == ' ' || character == '\n' || character == '\r' || character == '\t';
    }

    private boolean is(int at, char expected) {
        return at >= 0 && at < json.length && json[at] == expected;
    }
}
