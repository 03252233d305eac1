package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * A message that is a struct in Connect.
 *
 * <p>The plan has the fields in the order of the struct; a oneof is a field with members, unless it is flattened.
 */
final class ProtobufMessage extends ProtobufType.Nested {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final Field[] fields;
    private final Map<Integer, Member> members = new HashMap<>();
    private final Member[] byNumber;

    /** A field of the struct. */
    private record Field(String name, Member single, List<String> union) { } // single null: a oneof, union: its members

    /** A field of the message, whose value goes to the struct's field at a place. */
    private static final class Member {
        final int number;
        final String name;
        final int place;
        final String union; // the field of the struct, null for none
        final int group; // of a flattened oneof, -1 for none
        final boolean repeated;
        final boolean packed;
        final boolean present; // a default is another value than nothing
        final boolean required;
        final boolean filled; // an absent message is read as one without fields
        final JsonNode preset; // what an absent field is read as, null for its type's zero
        final ProtobufType type;
        final Entries entries; // of a map

        Member(JsonNode node, int place, String union, Map<String, ProtobufMessage> messages) {
            this.number = node.get("no").asInt();
            this.name = node.get("n").asText();
            this.place = place;
            this.union = union;
            this.group = node.path("g").asInt(-1);
            this.repeated = node.path("r").asBoolean();
            this.packed = node.path("pk").asBoolean();
            this.present = node.path("p").asBoolean();
            this.required = node.path("q").asBoolean();
            this.filled = node.path("z").asBoolean();
            this.entries = node.has("e") ? new Entries(node.get("e"), messages) : null;
            this.type = entries == null ? of(node.get("type"), messages) : null;
            this.preset = node.has("d") ? type.preset(node.get("d")) : null;
        }
    }

    /** The entries of a map. */
    private static final class Entries {
        final ProtobufType key;
        final ProtobufType value;
        final boolean isObject; // in JSON
        final boolean complete; // defaults are written as well

        Entries(JsonNode node, Map<String, ProtobufMessage> messages) {
            key = of(node.get("k"), messages);
            value = of(node.get("v"), messages);
            isObject = node.get("o").asBoolean();
            complete = node.path("all").asBoolean();
        }
    }

    ProtobufMessage(JsonNode node, Map<String, ProtobufMessage> messages) {
        if (node.has("n")) {
            messages.put(node.get("n").asText(), this); // before its fields, which refer to it
        }
        JsonNode given = node.get("f");
        fields = new Field[given.size()];
        for (int i = 0; i < fields.length; i++) {
            JsonNode field = given.get(i);
            String name = field.get("n").asText();
            List<String> union = new ArrayList<>();
            for (JsonNode member : field.path("u")) {
                union.add(add(new Member(member, i, name, messages)).name);
            }
            fields[i] = new Field(name, field.has("u") ? null : add(new Member(field, i, null, messages)), union);
        }
        byNumber = members.values().toArray(new Member[0]);
        Arrays.sort(byNumber, Comparator.comparingInt((Member member) -> member.number));
    }

    private Member add(Member member) {
        members.put(member.number, member);
        return member;
    }

    /** Required fields that a message does not have; their paths begin at the message that is read. */
    private static final class MissingException extends IOException {
        private static final long serialVersionUID = 1;
        private final List<String> paths;

        MissingException(List<String> paths) {
            super("Message missing required fields: " + String.join(", ", paths));
            this.paths = paths;
        }

        MissingException inside(String field) {
            return new MissingException(paths.stream().map(path -> field + "." + path).toList());
        }
    }

    /** What was found for a field: a value, or the bytes of a message, which may come in parts. */
    private static final class Found {
        final Member member;
        JsonNode value;
        byte[] bytes;

        Found(Member member) {
            this.member = member;
        }

        JsonNode node() throws IOException {
            try {
                return bytes == null ? value : member.type instanceof Nested nested ? nested.parse(bytes) : null;
            } catch (MissingException e) {
                throw e.inside(member.name);
            }
        }
    }

    @Override
    JsonNode parse(byte[] bytes) throws IOException {
        Found[] found = new Found[fields.length];
        ProtobufInput in = new ProtobufInput(bytes);
        while (in.hasMore()) {
            int tag = in.readTag();
            Member member = members.get(tag >>> 3);
            try {
                if (member == null || !take(member, tag & 7, in, found)) {
                    in.skip(tag);
                }
            } catch (MissingException e) {
                throw e.inside(member.entries != null ? member.name : member.name + "[" + found[member.place].value.size() + "]");
            }
        }
        requireAll(found);
        return struct(found);
    }

    @Override
    JsonNode empty() throws IOException { // an absent message is not missing the fields that it requires
        return struct(new Found[fields.length]);
    }

    private JsonNode struct(Found[] found) throws IOException {
        ObjectNode out = NODES.objectNode();
        for (int i = 0; i < fields.length; i++) {
            out.set(fields[i].name, found[i] == null ? absent(fields[i]) : there(fields[i], found[i]));
        }
        return out;
    }

    private void requireAll(Found[] found) throws MissingException {
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < fields.length; i++) {
            if (found[i] == null && fields[i].single != null && fields[i].single.required) {
                missing.add(fields[i].name);
            }
        }
        if (!missing.isEmpty()) {
            throw new MissingException(missing);
        }
    }

    private static JsonNode there(Field field, Found found) throws IOException {
        if (field.single != null) {
            return found.node();
        }
        ObjectNode union = NODES.objectNode();
        for (String name : field.union) {
            union.set(name, name.equals(found.member.name) ? found.node() : NODES.nullNode());
        }
        return union;
    }

    private static JsonNode absent(Field field) throws IOException {
        Member member = field.single;
        if (member == null) {
            return NODES.nullNode();
        }
        if (member.entries != null) {
            return member.entries.isObject ? NODES.objectNode() : NODES.arrayNode();
        }
        if (member.repeated) {
            return NODES.arrayNode();
        }
        if (member.filled && member.type instanceof Nested nested) {
            return nested.empty();
        }
        return member.present ? NODES.nullNode() : member.preset != null ? member.preset : member.type.zero();
    }

    /** Take the value of a field; false if it is stored in a way that the field's type is not. */
    private boolean take(Member member, int wire, ProtobufInput in, Found[] found) throws IOException {
        if (member.entries != null) {
            return wire == ProtobufInput.BYTES && entry(member, in, found);
        }
        boolean isList = member.repeated && wire == ProtobufInput.BYTES && member.type.wire() != ProtobufInput.BYTES;
        if (!isList && wire != member.type.wire()) {
            return false;
        }
        ProtobufInput values = isList ? new ProtobufInput(in.readBytes()) : in;
        if (member.repeated) {
            ArrayNode list = (ArrayNode) slot(member, found, NODES.arrayNode()).value;
            do {
                JsonNode value = isList && !values.hasMore() ? null : member.type.read(values);
                if (value != null) {
                    list.add(value);
                }
            } while (isList && values.hasMore());
        } else if (member.type instanceof Nested) {
            Found slot = slot(member, found, null);
            slot.bytes = joined(slot.bytes, in.readBytes());
        } else {
            JsonNode value = member.type.read(in);
            if (value != null) {
                slot(member, found, null).value = value;
            }
        }
        return true;
    }

    private Found slot(Member member, Found[] found, JsonNode first) {
        for (int i = 0; member.group >= 0 && i < found.length; i++) {
            if (found[i] != null && found[i].member.group == member.group && found[i].member != member) {
                found[i] = null; // the last member of a oneof is the one that counts
            }
        }
        if (found[member.place] == null || found[member.place].member != member) {
            found[member.place] = new Found(member);
            found[member.place].value = first;
        }
        return found[member.place];
    }

    private static byte[] joined(byte[] first, byte[] next) {
        if (first == null) {
            return next;
        }
        byte[] both = Arrays.copyOf(first, first.length + next.length);
        System.arraycopy(next, 0, both, first.length, next.length);
        return both;
    }

    private boolean entry(Member member, ProtobufInput in, Found[] found) throws IOException {
        Entries entries = member.entries;
        ProtobufInput inner = new ProtobufInput(in.readBytes());
        JsonNode key = entries.key.zero();
        JsonNode value = null;
        while (inner.hasMore()) {
            int tag = inner.readTag();
            if (tag == (1 << 3 | entries.key.wire())) {
                key = entries.key.read(inner);
            } else if (tag == (2 << 3 | entries.value.wire())) {
                JsonNode read = entries.value.read(inner);
                value = read == null ? value : read;
            } else {
                inner.skip(tag);
            }
        }
        if (value == null) {
            value = entries.value instanceof Nested nested ? nested.empty() : entries.value.zero();
        }
        JsonNode map = slot(member, found, entries.isObject ? NODES.objectNode() : NODES.arrayNode()).value;
        if (map instanceof ObjectNode object) {
            object.set(key.asText(), value);
        } else {
            put((ArrayNode) map, key, value);
        }
        return true;
    }

    private static void put(ArrayNode pairs, JsonNode key, JsonNode value) {
        for (Iterator<JsonNode> all = pairs.iterator(); all.hasNext();) {
            if (all.next().get(0).equals(key)) {
                all.remove();
            }
        }
        pairs.addArray().add(key).add(value);
    }

    @Override
    byte[] toBytes(JsonNode struct) throws IOException {
        ProtobufOutput out = new ProtobufOutput();
        for (Member member : byNumber) {
            JsonNode value = struct.get(member.union == null ? member.name : member.union);
            if (member.union != null && value != null) {
                value = value.get(member.name);
            }
            if (value != null && !value.isNull()) {
                try {
                    write(member, value, out);
                } catch (AvroPut.Refused e) {
                    throw new AvroPut.Refused(e.getMessage() + " (field " + member.name + ")");
                }
            } else if (member.required) {
                throw new AvroPut.Refused("Message missing required fields: " + member.name);
            }
        }
        return out.toBytes();
    }

    private static void write(Member member, JsonNode value, ProtobufOutput out) throws IOException {
        if (member.entries != null) {
            writeEntries(member, value, out);
        } else if (member.repeated) {
            writeList(member, value, out);
        } else if (member.present || !member.type.isZero(value)) {
            out.writeTag(member.number, member.type.wire());
            member.type.write(value, out);
        }
    }

    private static void writeList(Member member, JsonNode list, ProtobufOutput out) throws IOException {
        ProtobufOutput packed = new ProtobufOutput();
        for (JsonNode value : list) {
            if (value.isNull()) {
                throw new AvroPut.Refused("null in a repeated field");
            }
            if (member.packed) {
                member.type.write(value, packed);
            } else {
                out.writeTag(member.number, member.type.wire());
                member.type.write(value, out);
            }
        }
        if (member.packed && !list.isEmpty()) {
            out.writeTag(member.number, ProtobufInput.BYTES);
            out.writeBytes(packed.toBytes());
        }
    }

    private static void writeEntries(Member member, JsonNode map, ProtobufOutput out) throws IOException {
        if (member.entries.isObject) {
            for (Map.Entry<String, JsonNode> entry : map.properties()) {
                writeEntry(member, NODES.textNode(entry.getKey()), entry.getValue(), out);
            }
        } else {
            for (JsonNode pair : map) {
                writeEntry(member, pair.get(0), pair.get(1), out);
            }
        }
    }

    private static void writeEntry(Member member, JsonNode key, JsonNode value, ProtobufOutput out) throws IOException {
        ProtobufOutput inner = new ProtobufOutput();
        part(1, member.entries.key, key, member.entries.complete, inner);
        part(2, member.entries.value, value, member.entries.complete, inner);
        out.writeTag(member.number, ProtobufInput.BYTES);
        out.writeBytes(inner.toBytes());
    }

    private static void part(int number, ProtobufType type, JsonNode value, boolean always, ProtobufOutput out) throws IOException {
        if (!value.isNull() && (always || !type.isZero(value))) {
            out.writeTag(number, type.wire());
            type.write(value, out);
        }
    }
}
