package io.headrace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;

/** The columns that {@link JsonRead} has, filled by readers of other formats: of the whole value, and of the members asked for. */
final class ReadRow {
    /** Columns before those of the members: error, k, l, d, s, rest. */
    static final int FIRST = 6;

    private static final int MILLIS_OF_DAY = 86_400_000;

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Memo WANTED = new Memo() {
        @Override
        Object make(String names) {
            Map<String, Integer> places = new HashMap<>();
            for (String name : names.isEmpty() ? new String[0] : names.substring(1).split("\0", -1)) {
                places.put(name, places.size());
            }
            return places;
        }
    };

    private ReadRow() {
    }

    /** The members that are asked for, and their places. @param names joined by the character 0 (each begins with one) */
    @SuppressWarnings("unchecked")
    static Map<String, Integer> wanted(UTF8String names) {
        return (Map<String, Integer>) WANTED.get(names);
    }

    /** A row for so many members in which nothing is there. */
    static Object[] empty(int count) {
        Object[] row = new Object[FIRST + 4 * count];
        for (int at = 1; at < row.length; at = at == 1 ? FIRST : at + 4) {
            row[at] = JsonRead.ABSENT;
            row[at + 1] = 0L;
            row[at + 2] = 0.0;
        }
        return row;
    }

    /** A time of day in ms, as Kafka's Time takes it. */
    static int timeOfDay(int millis) throws IOException {
        if (millis < 0 || millis > MILLIS_OF_DAY) {
            throw new IOException("Time values must use number of milliseconds greater than 0 and less than 86400000");
        }
        return millis;
    }

    static void put(Object[] row, int at, byte kind, UTF8String text) {
        row[at] = kind;
        row[at + 3] = text;
    }

    static void put(Object[] row, int at, JsonNode value) throws JsonProcessingException {
        if (value == null || value.isNull()) {
            row[at] = JsonRead.NULL;
        } else if (value.isBoolean()) {
            row[at] = JsonRead.BOOLEAN;
            row[at + 1] = value.booleanValue() ? 1L : 0L;
        } else if (value.isIntegralNumber()) {
            row[at] = JsonRead.INTEGER;
            row[at + 1] = value.longValue();
            row[at + 2] = value.doubleValue();
        } else if (value.isNumber()) {
            row[at] = JsonRead.FRACTION;
            row[at + 2] = value.doubleValue();
        } else if (value.isTextual()) {
            put(row, at, JsonRead.TEXT, UTF8String.fromString(value.textValue()));
        } else {
            put(row, at, value.isArray() ? JsonRead.LIST : JsonRead.MAP, UTF8String.fromBytes(MAPPER.writeValueAsBytes(value)));
        }
    }
}
