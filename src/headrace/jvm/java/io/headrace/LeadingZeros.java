package io.headrace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/**
 * Numbers such as 007: JSON has none, but Kafka's JsonConverter reads them and writes 7. They are taken out of the text before it is
 * read, as most of it is written as it was read; a text without them, as nearly all are, costs nothing.
 */
final class LeadingZeros {
    private static final JsonFactory FACTORY =
        (JsonFactory) JsonFactory.builder().enable(JsonReadFeature.ALLOW_LEADING_ZEROS_FOR_NUMBERS).build();

    private LeadingZeros() {
    }

    /** Whether the reading of a text failed because of them. */
    static boolean stopped(IOException error) {
        return String.valueOf(error.getMessage()).startsWith("Invalid numeric value: Leading zeroes not allowed");
    }

    /** The text with its first JSON value freed of them; throws what else is wrong with it. */
    static byte[] removed(byte[] source) throws IOException {
        JsonParser parser = FACTORY.createParser(source);
        ByteArrayOutputStream text = new ByteArrayOutputStream(source.length);
        int written = 0;
        int depth = 0;
        do {
            JsonToken token = parser.nextToken();
            if (token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT) {
                int at = (int) parser.currentTokenLocation().getByteOffset();
                at += source[at] == '-' ? 1 : 0;
                text.write(source, written, at - written);
                while (source[at] == '0' && at + 1 < source.length && source[at + 1] >= '0' && source[at + 1] <= '9') {
                    at++;
                }
                written = at;
            } else if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
                depth++;
            } else if (token == JsonToken.END_OBJECT || token == JsonToken.END_ARRAY) {
                depth--;
            }
        } while (depth > 0);
        text.write(source, written, source.length - written);
        return text.toByteArray();
    }
}
