package io.headrace;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/** A map as an array of records with a key and a value. */
final class AvroPairs extends AvroStep {
    private final AvroStep key;
    private final AvroStep value;
    private final boolean isObject; // in JSON

    AvroPairs(AvroStep key, AvroStep value, boolean isObject) {
        this.key = key;
        this.value = value;
        this.isObject = isObject;
    }

    @Override
    byte kind() {
        return isObject ? JsonRead.MAP : JsonRead.LIST;
    }

    @Override
    void write(AvroInput in, JsonGenerator out) throws IOException {
        if (out != null && isObject) {
            out.writeStartObject();
        } else if (out != null) {
            out.writeStartArray();
        }
        for (int n = in.readBlock(); n != 0; n = in.readBlock()) {
            for (int i = 0; i < n; i++) {
                pair(in, out);
            }
        }
        if (out != null && isObject) {
            out.writeEndObject();
        } else if (out != null) {
            out.writeEndArray();
        }
    }

    private void pair(AvroInput in, JsonGenerator out) throws IOException {
        if (out == null) {
            key.write(in, null);
            value.write(in, null);
        } else if (isObject) {
            AvroStep inner = key;
            while (inner instanceof Union union) {
                inner = union.branch(in);
            }
            if (!(inner instanceof Text text)) {
                throw new IOException("null is the key of an entry of a map");
            }
            out.writeFieldName(text.read(in).toString());
            value.write(in, out);
        } else {
            out.writeStartArray();
            key.write(in, out);
            value.write(in, out);
            out.writeEndArray();
        }
    }
}
