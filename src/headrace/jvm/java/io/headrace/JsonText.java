package io.headrace;

import com.fasterxml.jackson.core.Base64Variants;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.Charset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;

/** JSON texts that are known to be well-formed, written in other ways. */
public final class JsonText {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int DEFAULT_CAPACITY = 16; // of java.util.HashMap

    private JsonText() {
    }

    /** Text as a JSON string. */
    public static UTF8String quote(UTF8String text) {
        byte[] given = text.getBytes();
        for (int i = 0; i < given.length; i++) {
            if (given[i] == '"' || given[i] == '\\' || (given[i] >= 0 && given[i] < ' ')) {
                return UTF8String.fromString('"' + new String(JsonStringEncoder.getInstance().quoteAsString(text.toString())) + '"');
            }
        }
        byte[] quoted = new byte[given.length + 2];
        quoted[0] = '"';
        System.arraycopy(given, 0, quoted, 1, given.length);
        quoted[given.length + 1] = '"';
        return UTF8String.fromBytes(quoted);
    }

    /** The same JSON with the members of objects in the order of Java's HashMap, which is what Kafka Connect has for a map. */
    public static UTF8String hashed(UTF8String json) throws IOException {
        return UTF8String.fromString(MAPPER.writeValueAsString(plain(MAPPER.readValue(json.toString(), Object.class))));
    }

    /** An object without objects in it: nested names are joined. Of members with the same new name the last in a HashMap counts. */
    public static UTF8String flat(UTF8String json, UTF8String delimiter) throws IOException {
        UTF8String flat = flat(json, delimiter, false);
        return flat == null ? flat(hashed(json), delimiter, true) : flat;
    }

    /** Null: two members have the same new name, or two objects, and the text does not have them in the order of a HashMap. */
    private static UTF8String flat(UTF8String json, UTF8String delimiter, boolean isHashed) throws IOException {
        byte[] source = json.getBytes();
        JsonParser parser = JsonRead.FACTORY.createParser(source);
        LinkedHashMap members = new LinkedHashMap();
        HashSet objects = new HashSet();
        ArrayDeque prefixes = new ArrayDeque();
        String between = delimiter.toString();
        String prefix = "";
        String name = "";
        parser.nextToken();
        while (true) {
            JsonToken token = parser.nextToken();
            if (token == JsonToken.FIELD_NAME) {
                name = prefix.isEmpty() ? parser.currentName() : prefix + between + parser.currentName();
            } else if (token == JsonToken.START_OBJECT) {
                if (!isHashed && (!objects.add(name) || members.containsKey(name))) {
                    return null;
                }
                prefixes.push(prefix);
                prefix = name;
            } else if (token == JsonToken.END_OBJECT) {
                if (prefixes.isEmpty()) {
                    return object(members);
                }
                prefix = (String) prefixes.pop();
            } else {
                int start = (int) parser.currentTokenLocation().getByteOffset();
                parser.skipChildren();
                parser.finishToken();
                int end = (int) parser.currentLocation().getByteOffset();
                if ((members.remove(name) != null || objects.contains(name)) && !isHashed) {
                    return null;
                }
                members.put(name, new String(source, start, end - start, "UTF-8").trim());
            }
        }
    }

    private static UTF8String object(Map members) {
        StringBuilder text = new StringBuilder("{");
        Object[] entries = members.entrySet().toArray();
        for (int i = 0; i < entries.length; i++) {
            Map.Entry entry = (Map.Entry) entries[i];
            String name = new String(JsonStringEncoder.getInstance().quoteAsString((String) entry.getKey()));
            text.append(i == 0 ? "\"" : ",\"").append(name).append("\":").append((String) entry.getValue());
        }
        return UTF8String.fromString(text.append('}').toString());
    }

    /**
     * Which of some members of an object comes last in the HashMap that Kafka Connect has for it.
     *
     * @param changed names of members that the object has, or has not, whatever the text says; @param there those of them that it has;
     *     @param names those of which to find the last, like all names here each after a character 0
     * @return its index in names; null if the object has none of them
     */
    public static Long last(UTF8String json, UTF8String changed, UTF8String there, UTF8String names, int capacity) throws IOException {
        List others = split(changed);
        List own = new ArrayList();
        JsonParser parser = JsonRead.FACTORY.createParser(json.getBytes());
        parser.nextToken();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            if (!others.contains(parser.currentName())) {
                own.add(parser.currentName());
            }
            parser.nextToken();
            parser.skipChildren();
        }
        own.addAll(split(there));
        HashMap map = map(capacity, new HashSet(own).size());
        for (int i = 0; i < own.size(); i++) {
            map.put(own.get(i), Boolean.TRUE);
        }
        List wanted = split(names);
        Long last = null;
        Object[] inOrder = map.keySet().toArray();
        for (int i = 0; i < inOrder.length; i++) {
            int index = wanted.indexOf(inOrder[i]);
            last = index < 0 ? last : Long.valueOf(index);
        }
        return last;
    }

    private static List split(UTF8String names) {
        return names.numBytes() == 0 ? new ArrayList() : Arrays.asList(names.toString().substring(1).split("\0", -1));
    }

    /** A map for so many members. @param capacity that of a new one; 0: of a copy of another; below 0: of one made for so many */
    private static HashMap map(int capacity, int members) {
        return new HashMap(capacity > 0 ? capacity : capacity < 0 ? members : members == 0 ? DEFAULT_CAPACITY : (int) (members / 0.75f + 1.0f));
    }

    /** What Java's toString gives for the lists and maps that Kafka Connect makes of this JSON.
     *  @param capacity with which the HashMap of a map was made, as in {@link #map} */
    public static UTF8String javaText(UTF8String json, int capacity) throws IOException {
        return UTF8String.fromString(String.valueOf(plain(MAPPER.readValue(json.toString(), Object.class), capacity)));
    }

    private static Object plain(Object value) {
        return plain(value, DEFAULT_CAPACITY);
    }

    private static Object plain(Object value, int capacity) {
        if (value instanceof Map) {
            Object[] entries = ((Map) value).entrySet().toArray();
            HashMap unordered = map(capacity, entries.length);
            for (int i = 0; i < entries.length; i++) {
                unordered.put(((Map.Entry) entries[i]).getKey(), plain(((Map.Entry) entries[i]).getValue()));
            }
            return unordered;
        }
        if (value instanceof ArrayList) {
            ArrayList list = new ArrayList();
            Object[] items = ((ArrayList) value).toArray();
            for (int i = 0; i < items.length; i++) {
                list.add(plain(items[i]));
            }
            return list;
        }
        return value instanceof Double && ((Double) value).doubleValue() == 0 ? Double.valueOf(0) : value; // Kafka reads -0.0 as a BigDecimal
    }

    public static boolean isCharset(UTF8String name) {
        try {
            return Charset.isSupported(name.toString());
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Text in the given character set; what is malformed becomes U+FFFD. */
    public static UTF8String decode(byte[] bytes, UTF8String charset) {
        return UTF8String.fromString(new String(bytes, Charset.forName(charset.toString())));
    }

    public static byte[] encode(UTF8String text, UTF8String charset) {
        return text.toString().getBytes(Charset.forName(charset.toString()));
    }

    /** The bytes of base64 text; null if it is none. */
    public static byte[] base64(UTF8String text) {
        try {
            return Base64Variants.getDefaultVariant().decode(text.toString());
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
