package io.headrace;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import java.io.IOException;

/** Data without schema: a record with one field for each kind of data, of which one is not null. */
final class AvroAny extends AvroStep {
    private static final String[] KINDS = {"boolean", "bytes", "double", "float", "int", "long", "string"};

    private final AvroStep[] steps = new AvroStep[KINDS.length];
    private final AvroStep list = new ArrayOf(this);

    AvroAny() {
        for (int i = 0; i < steps.length; i++) {
            steps[i] = of(KINDS[i]);
        }
    }

    @Override
    void write(AvroInput in, JsonGenerator out) throws IOException {
        boolean written = false;
        for (AvroStep step : steps) {
            if (in.readPlace(2, "a union") == 1) {
                step.write(in, out);
                written = true;
            }
        }
        if (in.readPlace(2, "a union") == 1) {
            list.write(in, out);
            written = true;
        }
        if (in.readPlace(2, "a union") == 1) {
            map(in, out);
            written = true;
        }
        if (!written && out != null) {
            out.writeNull();
        }
    }

    private static AvroStep of(String kind) {
        return switch (kind) {
            case "boolean" -> new Bool();
            case "double", "float" -> new Fraction("double".equals(kind));
            case "int", "long" -> new Whole(kind);
            default -> new Text(kind, MissingNode.getInstance());
        };
    }

    private void map(AvroInput in, JsonGenerator out) throws IOException {
        if (out != null) {
            out.writeStartObject();
        }
        for (int n = in.readBlock(); n != 0; n = in.readBlock()) {
            for (int i = 0; i < n; i++) {
                key(in, out);
                write(in, out);
            }
        }
        if (out != null) {
            out.writeEndObject();
        }
    }

    private void key(AvroInput in, JsonGenerator out) throws IOException {
        TokenBuffer key = new TokenBuffer(null, false);
        write(in, key);
        if (out != null) {
            JsonParser parser = key.asParser();
            parser.nextToken();
            out.writeFieldName(parser.getText());
        }
    }
}
