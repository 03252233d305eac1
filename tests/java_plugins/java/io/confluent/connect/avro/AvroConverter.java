package io.confluent.connect.avro;

import org.example.PlainConverter;

/** A converter under a name that headrace has a converter of its own for. */
public class AvroConverter extends PlainConverter {
}
