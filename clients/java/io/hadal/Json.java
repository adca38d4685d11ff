package io.hadal;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** JSON: maps, lists, strings, BigDecimals, booleans and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            char before = '{';
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(before);
                string(String.valueOf(entry.getKey()), out);
                out.append(':');
                write(entry.getValue(), out);
                before = ',';
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof Set<?> set) {
            TreeSet<String> sorted = new TreeSet<>();
            set.forEach(element -> sorted.add(String.valueOf(element)));
            write(Map.of("$set", new ArrayList<>(sorted)), out);
        } else if (value instanceof Iterable<?> list) {
            out.append('[');
            String comma = "";
            for (Object element : list) {
                out.append(comma);
                write(element, out);
                comma = ",";
            }
            out.append(']');
        } else if (value instanceof Double number && !Double.isFinite(number)) {
            out.append("null");
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            string(value instanceof Instant time ? time.toString() : String.valueOf(value), out);
        }
    }

    private static void string(String string, StringBuilder out) {
        out.append('"');
        for (int index = 0; index < string.length(); index++) {
            char character = string.charAt(index);
            if (character == '"' || character == '\\') {
                out.append('\\').append(character);
            } else if (character < ' ') {
                out.append(String.format("\\u%04x", (int) character));
            } else {
                out.append(character);
            }
        }
        out.append('"');
    }

    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpace();
        if (json.at < text.length()) {
            throw json.unexpected();
        }
        return value;
    }

    private Object value() {
        skipSpace();
        switch (peek()) {
            case '{': {
                Map<String, Object> map = new LinkedHashMap<>();
                for (at++; !skip('}'); skip(',')) {
                    skipSpace();
                    String key = string();
                    if (!skip(':')) {
                        throw unexpected();
                    }
                    map.put(key, value());
                }
                return map;
            }
            case '[': {
                List<Object> list = new ArrayList<>();
                for (at++; !skip(']'); skip(',')) {
                    list.add(value());
                }
                return list;
            }
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                int start = at;
                while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
                    at++;
                }
                if (at == start) {
                    throw unexpected();
                }
                return new BigDecimal(text.substring(start, at));
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
        return value;
    }

    private String string() {
        if (peek() != '"') {
            throw unexpected();
        }
        StringBuilder out = new StringBuilder();
        for (at++; peek() != '"'; at++) {
            char character = peek();
            if (character != '\\') {
                out.append(character);
                continue;
            }
            at++;
            switch (peek()) {
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'r' -> out.append('\r');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'u' -> {
                    out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                }
                default -> out.append(peek());
            }
        }
        at++;
        return out.toString();
    }

    private char peek() {
        if (at >= text.length()) {
            throw new IllegalArgumentException("the JSON breaks off");
        }
        return text.charAt(at);
    }

    private void skipSpace() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private boolean skip(char wanted) {
        skipSpace();
        boolean is = peek() == wanted;
        at += is ? 1 : 0;
        return is;
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("unexpected JSON at character " + at);
    }
}
