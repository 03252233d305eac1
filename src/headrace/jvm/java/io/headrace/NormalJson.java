package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A schema by which a JSON text can be recognized as one that {@link JsonNormal} would leave as it is, without parsing it: the usual
 * case. Where that is not certain (spaces, escapes, members in another order, maps, bytes, decimals) it says no.
 */
final class NormalJson {
    private static final int SURE_DIGITS = 18; // a number of so many fits into a long
    private static final String LOGICAL = "org.apache.kafka.connect.data.";

    private final String type;
    private final boolean optional;
    private final boolean hasDefault;
    private final byte[][] names; // of the fields of a struct, as they begin: "name":
    private final NormalJson[] parts; // of a struct its fields, of an array its items

    private NormalJson(JsonNode schema, String type) {
        this.type = type;
        optional = ((JsonNode) schema.path("optional")).asBoolean();
        hasDefault = schema.hasNonNull("default");
        JsonNode fields = (JsonNode) schema.path("fields");
        int count = "struct".equals(type) ? fields.size() : "array".equals(type) ? 1 : 0;
        names = new byte[count][];
        parts = new NormalJson[count];
        for (int i = 0; i < count; i++) {
            JsonNode part = "struct".equals(type) ? (JsonNode) fields.get(i) : (JsonNode) schema.path("items");
            parts[i] = of(part);
            names[i] = UTF8String.fromString(((JsonNode) part.path("field")).toString() + ":").getBytes();
        }
    }

    /** @param schema Connect's JSON form; a schema that refers to itself is one of which nothing is certain */
    static NormalJson of(JsonNode schema) {
        return new NormalJson(schema, schema.has("levels_up") ? "recursive" : type(schema));
    }

    private static String type(JsonNode schema) {
        String type = ((JsonNode) schema.path("type")).asText();
        String name = ((JsonNode) schema.path("name")).asText();
        boolean whole = name.equals(LOGICAL + "Date") && "int32".equals(type) || name.equals(LOGICAL + "Timestamp") && "int64".equals(type);
        return name.startsWith(LOGICAL) && !whole ? name : type;
    }

    /** Whether the text is certain to stay as it is. @param defaults defaults replace nulls */
    boolean is(byte[] json, boolean defaults) {
        return value(json, 0, defaults) == json.length;
    }

    /** The end of the value that begins at a place; -1 if it is not certain to stay as it is. */
    private int value(byte[] json, int at, boolean defaults) {
        if (at < 0 || at >= json.length) {
            return -1;
        }
        if (json[at] == 'n') {
            return optional && !(hasDefault && defaults) ? word(json, at, "null") : -1;
        }
        if ("struct".equals(type)) {
            return struct(json, at, defaults);
        }
        if ("array".equals(type)) {
            return array(json, at, defaults);
        }
        if ("string".equals(type)) {
            return string(json, at, false);
        }
        if ("boolean".equals(type)) {
            return word(json, at, json[at] == 't' ? "true" : "false");
        }
        if ("float".equals(type) || "double".equals(type)) {
            return fraction(json, at);
        }
        return integer(json, at);
    }

    private int struct(byte[] json, int from, boolean defaults) {
        if (json[from] != '{') {
            return -1;
        }
        int at = from + 1;
        for (int i = 0; i < parts.length; i++) {
            at = i == 0 ? at : after(json, at, ',');
            if (at < 0 || !starts(json, at, names[i])) {
                return -1;
            }
            at = parts[i].value(json, at + names[i].length, defaults);
        }
        return after(json, at, '}');
    }

    private int array(byte[] json, int from, boolean defaults) {
        if (json[from] != '[') {
            return -1;
        }
        int at = from + 1;
        if (after(json, at, ']') > 0) {
            return at + 1;
        }
        while (true) {
            at = parts[0].value(json, at, defaults);
            if (at < 0 || at >= json.length) {
                return -1;
            }
            if (json[at] == ']') {
                return at + 1;
            }
            at = after(json, at, ',');
        }
    }

    /** The place after a string, or -1 if there is none. @param escapes whether it may have some, of one character */
    static int string(byte[] json, int from, boolean escapes) {
        if (from < 0 || from >= json.length || json[from] != '"') {
            return -1;
        }
        int at = from + 1;
        while (at < json.length && json[at] != '"') {
            byte first = json[at];
            int length = first < ' ' ? (first < 0 ? character(json, at) : 0) : 1;
            if (first == '\\') {
                length = escapes && at + 1 < json.length && "\"\\/bfnrt".indexOf(json[at + 1]) >= 0 ? 2 : 0;
            }
            if (length == 0) {
                return -1;
            }
            at += length;
        }
        return after(json, at, '"');
    }

    /** The bytes of a character beyond ASCII; 0 if they are not one in UTF-8. */
    private static int character(byte[] json, int at) {
        int first = json[at] & 0xff;
        int length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
        if (length == 0 || at + length > json.length) {
            return 0;
        }
        for (int i = 1; i < length; i++) {
            if ((json[at + i] & 0xc0) != 0x80) {
                return 0;
            }
        }
        int second = json[at + 1] & 0xff;
        boolean overlong = first == 0xe0 && second < 0xa0 || first == 0xf0 && second < 0x90;
        boolean outside = first == 0xed && second >= 0xa0 || first == 0xf4 && second >= 0x90;
        return overlong || outside ? 0 : length;
    }

    private int integer(byte[] json, int from) {
        long most = "int8".equals(type) ? Byte.MAX_VALUE : "int16".equals(type) ? Short.MAX_VALUE
            : "int32".equals(type) ? Integer.MAX_VALUE : "int64".equals(type) ? Long.MAX_VALUE : -1;
        boolean negative = json[from] == '-';
        int first = negative ? from + 1 : from;
        int at = first;
        long number = 0;
        while (at < json.length && json[at] >= '0' && json[at] <= '9' && at - first <= SURE_DIGITS) {
            number = 10 * number + json[at] - '0';
            at++;
        }
        boolean sure = at > first && at - first <= SURE_DIGITS && number <= most;
        boolean zeros = at > first && json[first] == '0' && (negative || at - first > 1);
        return sure && !zeros && !isOfNumber(json, at) ? at : -1;
    }

    private int fraction(byte[] json, int from) {
        int at = from;
        while (at < json.length && isOfNumber(json, at)) {
            at++;
        }
        String text = new String(json, from, at - from, StandardCharsets.ISO_8859_1);
        if (text.startsWith("-0")) { // a negative zero is read as a decimal, which has none
            return -1;
        }
        try {
            String written = "float".equals(type) ? Float.toString(Float.parseFloat(text)) : Double.toString(Double.parseDouble(text));
            return written.equals(text) ? at : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static boolean isOfNumber(byte[] json, int at) {
        return at < json.length && (json[at] >= '0' && json[at] <= '9' || "+-.eE".indexOf(json[at]) >= 0);
    }

    /** The place after a word, or -1 if it does not stand there. */
    static int word(byte[] json, int at, String word) {
        for (int i = 0; i < word.length(); i++) {
            if (at + i >= json.length || json[at + i] != word.charAt(i)) {
                return -1;
            }
        }
        return at + word.length();
    }

    private static int after(byte[] json, int at, char expected) {
        return at >= 0 && at < json.length && json[at] == expected ? at + 1 : -1;
    }

    private static boolean starts(byte[] json, int at, byte[] part) {
        return at + part.length <= json.length && Arrays.equals(json, at, at + part.length, part, 0, part.length);
    }
}
