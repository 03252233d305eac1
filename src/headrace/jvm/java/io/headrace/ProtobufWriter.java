package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/** Writes messages of one type. */
record ProtobufWriter(ProtobufType.Nested type) implements RegistryWrite.Writer {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Override
    public byte[] toBytes(byte[] json) throws IOException {
        JsonNode value = MAPPER.readTree(json);
        return value.isNull() ? null : type.toBytes(value);
    }
}
