package io.headrace.connect;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;

/** Hides secrets of plugins in the headers of dead letters, which say what a plugin has thrown. */
public final class SecretsInterceptor implements ProducerInterceptor<byte[], byte[]> {
    /** The setting of the producer that has the secrets, a list of texts, the longest first. */
    public static final String SECRETS = "headrace.secrets";

    private static final String THROWN = "__connect.errors.exception.";
    private List<?> secrets = List.of();

    @Override
    public void configure(Map<String, ?> settings) {
        secrets = (List<?>) settings.get(SECRETS);
    }

    @Override
    public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> letter) {
        for (Header header : letter.headers().toArray()) {
            if (header.key().startsWith(THROWN) && header.value() != null) {
                String said = new String(header.value(), StandardCharsets.UTF_8);
                String shown = Failure.hidden(said, secrets);
                if (!shown.equals(said)) {
                    letter.headers().remove(header.key()).add(header.key(), shown.getBytes(StandardCharsets.UTF_8));
                }
            }
        }
        return letter;
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, Exception error) {
    }

    @Override
    public void close() {
    }
}
