package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

/** Reads messages of one type. */
record ProtobufReader(ProtobufType.Nested type) implements PayloadRead.Reader {
    static ProtobufReader of(JsonNode plan) {
        return new ProtobufReader((ProtobufType.Nested) ProtobufType.of(plan));
    }

    @Override
    public JsonNode read(byte[] bytes) throws IOException {
        return type.parse(bytes);
    }
}
