package io.headrace;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** JSON may come in UTF-16 and UTF-32 too (RFC 4627 §3, as Jackson reads it); offsets are counted in UTF-8. */
final class Utf8 {
    private Utf8() {
    }

    /** The same text in UTF-8 without byte order mark; the array itself in the usual case. */
    static byte[] utf8(byte[] json) {
        if (json.length < 2 || (json[0] != 0 && json[1] != 0 && json[0] > 0)) {
            return json;
        }
        int a = json[0] & 0xff;
        int b = json[1] & 0xff;
        int c = json.length > 2 ? json[2] & 0xff : 1;
        int d = json.length > 3 ? json[3] & 0xff : 1;
        if (a == 0xef && b == 0xbb && c == 0xbf) {
            return decoded(json, 3, StandardCharsets.UTF_8);
        }
        if (a == 0 && b == 0) {
            return decoded(json, c == 0xfe && d == 0xff ? 4 : 0, Charset.forName("UTF-32BE"));
        }
        if (a == 0xff && b == 0xfe || b == 0) {
            boolean wide = c == 0 && d == 0;
            return decoded(json, a == 0xff ? (wide ? 4 : 2) : 0, wide ? Charset.forName("UTF-32LE") : StandardCharsets.UTF_16LE);
        }
        if (a == 0xfe && b == 0xff || a == 0) {
            return decoded(json, a == 0 ? 0 : 2, StandardCharsets.UTF_16BE);
        }
        return json;
    }

    /** Whether a text can be written as UTF-8: it has no half of a surrogate pair. */
    static boolean isWhole(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 0xd800 && c <= 0xdfff) {
                if (c >= 0xdc00 || i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    private static byte[] decoded(byte[] json, int from, Charset charset) {
        if (charset == StandardCharsets.UTF_8) {
            byte[] rest = new byte[json.length - from];
            System.arraycopy(json, from, rest, 0, rest.length);
            return rest;
        }
        return charset.decode(ByteBuffer.wrap(json, from, json.length - from)).toString().getBytes(StandardCharsets.UTF_8);
    }
}
