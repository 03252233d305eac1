package io.headrace.bench;

import io.apicurio.registry.utils.converter.avro.AvroData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;

/**
 * What Confluent's AvroConverter does to a record, without its registry: a GenericRecord by Avro's own reader, Connect data of it by
 * AvroData (as Apicurio has it: Confluent's own is not in Maven Central), and back. The schema that is read is a property, and has the
 * id 1; what is written has the id 2. Readers and writers are made once for each schema.
 *
 * <p>No generics, because Janino, which compiles this file, checks the erased signatures.
 */
public final class GenericAvroConverter implements Converter {
    private static final int HEAD = 5;

    private final AvroData data = new AvroData(1000);
    private final Map writers = new IdentityHashMap();
    private org.apache.avro.Schema schema;
    private GenericDatumReader reader;
    private BinaryDecoder decoder;
    private BinaryEncoder encoder;

    public void configure(Map configs, boolean isKey) {
        schema = new org.apache.avro.Schema.Parser().parse((String) configs.get("schema"));
        reader = new GenericDatumReader(schema);
    }

    public SchemaAndValue toConnectData(String topic, byte[] value) {
        try {
            if (value[0] != 0 || ByteBuffer.wrap(value, 1, 4).getInt() != 1) {
                throw new IllegalArgumentException("not the schema 1");
            }
            decoder = DecoderFactory.get().binaryDecoder(value, HEAD, value.length - HEAD, decoder);
            return data.toConnectData(schema, reader.read(null, decoder));
        } catch (IOException e) {
            throw new RuntimeException(e);
        }
    }

    public byte[] fromConnectData(String topic, Schema connect, Object value) {
        try {
            org.apache.avro.Schema avro = data.fromConnectSchema(connect);
            GenericDatumWriter writer = (GenericDatumWriter) writers.get(avro);
            if (writer == null) {
                writer = new GenericDatumWriter(avro);
                writers.put(avro, writer);
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(0);
            out.write(ByteBuffer.allocate(4).putInt(2).array());
            encoder = EncoderFactory.get().directBinaryEncoder(out, encoder);
            writer.write(data.fromConnectData(connect, value), encoder);
            encoder.flush();
            return out.toByteArray();
        } catch (IOException e) {
            throw new RuntimeException(e);
        }
    }
}
