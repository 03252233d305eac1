package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

/** Writes messages of one type. */
record ProtobufWriter(ProtobufType.Nested type) implements RegistryWrite.Writer {
    @Override
    public byte[] toBytes(JsonNode value) throws IOException {
        return type.toBytes(value);
    }

    @Override
    public boolean takesNull() {
        return false;
    }
}
