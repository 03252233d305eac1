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
    private static final String SECRETS = "headrace.secrets";
    private static final String INTERCEPTORS = "interceptor.classes";
    private static final String THROWN = "__connect.errors.exception.";
    private List<?> secrets = List.of();

    /** Add this interceptor to the settings of a producer, behind its own ones; secrets: texts, the longest first. */
    public static void addTo(Map<String, Object> producer, List<?> secrets) {
        String own = SecretsInterceptor.class.getName();
        producer.put(SECRETS, secrets);
        producer.merge(INTERCEPTORS, own, (before, added) -> before.toString().isBlank() ? added : before + "," + added);
    }

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
