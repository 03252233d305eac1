package org.example;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;

/**
 * Texts of keys, values and headers with what the converter was given beside them.
 *
 * <p>As converter it puts the topic and its role into a header when it writes, and when it reads takes out the header `label`, whose
 * text it puts before its own (KIP-440). As header converter it refuses to write the text `refuse`.
 */
public class Label implements Converter, HeaderConverter, Monitorable {
    private String role = "header";
    private long calls;
    private Object refused;
    private boolean linkage;

    @Override
    public String version() {
        return new CountingSourceConnector().version();
    }

    @Override
    public void configure(Map<String, ?> props, boolean isKey) {
        role = isKey ? "key" : "value";
    }

    @Override
    public void configure(Map<String, ?> props) {
        refused = props.get("refuse");
        linkage = props.containsKey("linkage");
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("label.depth", ConfigDef.Type.INT, 1, ConfigDef.Range.between(1, 3), ConfigDef.Importance.LOW, "Not used.");
    }

    @Override
    public byte[] fromConnectData(String topic, Schema schema, Object value) {
        throw new UnsupportedOperationException("without headers");
    }

    @Override
    public byte[] fromConnectData(String topic, Headers headers, Schema schema, Object value) {
        calls++;
        headers.add("written", bytes(topic + " " + role));
        return value == null ? null : bytes(String.valueOf(value));
    }

    @Override
    public SchemaAndValue toConnectData(String topic, byte[] value) {
        throw new UnsupportedOperationException("without headers");
    }

    @Override
    public SchemaAndValue toConnectData(String topic, Headers headers, byte[] value) {
        Header label = headers.lastHeader("label");
        headers.remove("label");
        String text = value == null ? null : (label == null ? "" : text(label.value()) + " ") + text(value);
        return new SchemaAndValue(Schema.OPTIONAL_STRING_SCHEMA, text);
    }

    @Override
    public byte[] fromConnectHeader(String topic, String name, Schema schema, Object value) {
        calls++;
        if (String.valueOf(value).equals(refused)) {
            if (linkage) {
                throw new NoClassDefFoundError("no class for header " + value);
            }
            throw new IllegalStateException("no luck with header " + value);
        }
        return bytes(topic + "/" + name + "=" + value);
    }

    @Override
    public SchemaAndValue toConnectHeader(String topic, String name, byte[] value) {
        return new SchemaAndValue(Schema.STRING_SCHEMA, text(value) + " of " + topic + "/" + name);
    }

    @Override
    public void withPluginMetrics(PluginMetrics metrics) {
        metrics.addMetric(metrics.metricName("written", "Conversions.", new LinkedHashMap<>()), (config, now) -> (double) calls);
    }

    @Override
    public void close() {
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
