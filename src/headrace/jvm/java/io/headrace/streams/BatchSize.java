package io.headrace.streams;

import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** How large a record is for a broker, which measures batches as they come: compressed, if the producer does that. */
final class BatchSize {
    private BatchSize() { }

    /** Bytes of a record in a batch of its own. settings: of the producer. */
    static int alone(Object[] record, Map<String, Object> settings) {
        Header[] headers = ((List<?>) record[4]).stream().map(one -> (byte[][]) one)
            .map(one -> new RecordHeader(TaskRuntime.text(one[0]), one[1])).toArray(Header[]::new);
        SimpleRecord given = new SimpleRecord((Long) record[5], (byte[]) record[2], (byte[]) record[3], headers);
        return MemoryRecords.withRecords(compression(settings), given).sizeInBytes();
    }

    private static Compression compression(Map<String, Object> settings) {
        String name = settings.getOrDefault(ProducerConfig.COMPRESSION_TYPE_CONFIG, "none").toString();
        return switch (name) {
            case "gzip" -> levelled(settings, ProducerConfig.COMPRESSION_GZIP_LEVEL_CONFIG, at -> Compression.gzip().level(at).build());
            case "lz4" -> levelled(settings, ProducerConfig.COMPRESSION_LZ4_LEVEL_CONFIG, at -> Compression.lz4().level(at).build());
            case "zstd" -> levelled(settings, ProducerConfig.COMPRESSION_ZSTD_LEVEL_CONFIG, at -> Compression.zstd().level(at).build());
            default -> Compression.of(name).build();
        };
    }

    private static Compression levelled(Map<String, Object> settings, String setting, IntFunction<Compression> at) {
        Object level = settings.get(setting);
        String name = setting.split("\\.")[1];
        return level == null ? Compression.of(name).build() : at.apply(Integer.parseInt(level.toString()));
    }
}
