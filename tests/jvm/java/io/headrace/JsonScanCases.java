package io.headrace;

import static io.headrace.Cases.equal;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.spark.unsafe.types.UTF8String;

/** What is read without a parser is what the parser reads. */
final class JsonScanCases {
    private static final String[] NAMES = {"a", "id", "name", "", "nested", "x y", "größe", "e\\n", "\\u0061", "price"};
    private static final String[] NUMBERS = {"0", "-0", "7", "-12", "007", "1.5", "-0.0", "0.1", "123456789012345678", "1234567890123456789",
        "99999999999999999999", "1e5", "1E-7", "-2.50", "3.4028236E38", "0.1000000014901161", "12345678901234.0", "-12345678901234.0", "1.", ".5",
        "-", "16777217.0", "1.17549434E-39", "+1", "1.2.3", "0x1", "9007199254740993", "0.30000001192092896"};
    private static final String[] TEXTS = {"", "plain", "größe", "\\n", "\\u00e9", "\\ud83d", "日本", "😀", "a\\\"b", "\\x", "a\tb", "\u007f", "{", "}", ","};
    private static final String[] WORDS = {"true", "false", "null", "nul", "True", "NaN"};
    private static final String[] SPACES = {"", "", "", "", " ", "\n", "\t ", "\r\n", "\f"};
    private static final String[] MODES = {"", "t", "f", "z", "e", "fz", "te", "tz"};

    private JsonScanCases() {
    }

    static void theUsualTextsAreReadWithoutAParser() {
        String record = "{\"id\":17,\"name\":\"größe\",\"price\": 12.50,\"x\":{\"l\":[1,2.5e3,{}],\"t\":\"a\\\"b\"},\"y\":null,\"z\":true}";
        equal(scanned(record, "\0id\0name\0price\0y\0z\0x", "") != null, true);
        equal(scanned(record, "", "") != null, true);
        equal(scanned(" { \"id\" : 17 , \"b\" : \"c\" } ", "\0id", "e") != null, true);
        equal(scanned("{}", "\0id", "") != null, true);
    }

    static void theRestIsWhatIsNotAskedFor() {
        Object[] row = scanned("{\"b\":[1], \"id\":17, \"c\":\"d\"}", "\0id", "");
        equal(row[5].toString(), "\"b\":[1], \"c\":\"d\"");
        equal(scanned("{\"id\":17}", "\0id", "")[5], null);
        equal(scanned("{\"b\":1 , \"c\":2}", "\0id", "")[5].toString(), "\"b\":1 , \"c\":2");
    }

    static void whatIsNotCertainIsLeftToTheParser() {
        equal(scanned("{\"id\":\"a\\nb\"}", "\0id", ""), null);
        equal(scanned("{\"id\":99999999999999999999}", "\0id", ""), null);
        equal(scanned("{\"id\":1} x", "\0id", "e"), null);
        equal(scanned("{\"id\":1", "\0id", ""), null);
        equal(scanned("[1]", "\0id", ""), null);
        equal(scanned("{\"id\":\"" + "a".repeat(40000) + "\"}", "\0id", ""), null);
    }

    static void randomTextsAreReadAsByTheParser() {
        Random random = new Random(585);
        int without = 0;
        for (int i = 0; i < 200_000; i++) {
            String text = one(random, SPACES) + object(random, 0) + one(random, SPACES);
            byte[] json = text.getBytes(StandardCharsets.UTF_8);
            if (random.nextInt(3) == 0 && json.length > 0) {
                json[random.nextInt(json.length)] = (byte) (random.nextBoolean() ? random.nextInt(256) : "\"{}[],:\\ .e-0"
                    .charAt(random.nextInt(13)));
            }
            String names = "";
            for (String name : NAMES) {
                names += random.nextInt(3) == 0 ? "\0" + name : "";
            }
            UTF8String mode = UTF8String.fromString(one(random, MODES));
            JsonRead.Wanted wanted = JsonRead.wanted(UTF8String.fromString(names));
            byte[] utf8 = Utf8.utf8(json);
            Object[] row = JsonRead.scanned(utf8, wanted, mode);
            if (row != null) {
                without++;
                try {
                    equal(row, JsonRead.parsed(utf8, wanted, mode));
                } catch (AssertionError e) {
                    throw new AssertionError(new String(json, StandardCharsets.UTF_8) + " with " + names.replace('\0', '|') + " " + mode, e);
                }
            }
        }
        equal(without > 20_000, true);
    }

    private static Object[] scanned(String text, String names, String mode) {
        JsonRead.Wanted wanted = JsonRead.wanted(UTF8String.fromString(names));
        return JsonRead.scanned(text.getBytes(StandardCharsets.UTF_8), wanted, UTF8String.fromString(mode));
    }

    private static String object(Random random, int depth) {
        StringBuilder text = new StringBuilder("{").append(one(random, SPACES));
        int count = random.nextInt(5);
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : "," + one(random, SPACES));
            text.append('"').append(one(random, NAMES)).append('"').append(one(random, SPACES)).append(':').append(one(random, SPACES));
            text.append(value(random, depth)).append(one(random, SPACES));
        }
        return text.append('}').toString();
    }

    private static String value(Random random, int depth) {
        switch (random.nextInt(depth > 2 ? 5 : 7)) {
            case 0:
            case 1:
                return one(random, NUMBERS);
            case 2:
                String digits = String.valueOf(random.nextLong() >> random.nextInt(60));
                return random.nextBoolean() ? digits : digits + "." + random.nextInt(1000);
            case 3:
                return '"' + one(random, TEXTS) + one(random, TEXTS) + '"';
            case 4:
                return one(random, WORDS);
            case 5:
                return object(random, depth + 1);
            default:
                return "[" + value(random, depth + 1) + (random.nextBoolean() ? "," + value(random, depth + 1) : "") + "]";
        }
    }

    private static String one(Random random, String[] choices) {
        return choices[random.nextInt(choices.length)];
    }
}
