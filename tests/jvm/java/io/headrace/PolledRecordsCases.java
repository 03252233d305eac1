package io.headrace;

import static io.headrace.Cases.equal;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Records of a hosted task as Spark's rows, without a host. */
final class PolledRecordsCases {
    private static final byte[] KEY = {1, 2};
    private static final byte[] VALUE = {3};
    private static final Object[] HEADERS = {new Object[] {"trace", VALUE}, new Object[] {"empty", null}};
    private static final Object[] FULL = {"orders", 4, KEY, VALUE, HEADERS, 1_700_000_000_000L, "{\"p\":1}", "{\"o\":2}", null};
    private static final Object[] SPARSE = {"orders", null, null, null, null, null, "{\"p\":1}", "{\"o\":3}",
        new Object[] {"output.headers", "java.lang.Error", "no luck", null}};

    private PolledRecordsCases() {
    }

    static void everyColumnOfARecordIsInItsRow() throws Exception {
        PartitionReader reader = reader(new PolledRecords.Carried(Arrays.asList(FULL, SPARSE)), columns());
        equal(reader.next(), true);
        InternalRow row = (InternalRow) reader.get();
        equal(row.numFields(), 9);
        equal(row.getUTF8String(0).toString(), "orders");
        equal(row.getInt(1), 4);
        equal(row.getBinary(2), KEY);
        equal(row.getBinary(3), VALUE);
        ArrayData headers = row.getArray(4);
        equal(headers.numElements(), 2);
        equal(headers.getStruct(0, 2).getUTF8String(0).toString(), "trace");
        equal(headers.getStruct(0, 2).getBinary(1), VALUE);
        equal(headers.getStruct(1, 2).isNullAt(1), true);
        equal(row.getLong(5), 1_700_000_000_000L);
        equal(row.getUTF8String(6).toString(), "{\"p\":1}");
        equal(row.getUTF8String(7).toString(), "{\"o\":2}");
        equal(row.isNullAt(8), true);
    }

    static void whatARecordDoesNotHaveIsNullAndTheOrderStays() throws Exception {
        PartitionReader reader = reader(new PolledRecords.Carried(Arrays.asList(FULL, SPARSE)), columns());
        reader.next();
        reader.get();
        equal(reader.next(), true);
        InternalRow row = (InternalRow) reader.get();
        for (int column = 1; column < 6; column++) {
            equal(row.isNullAt(column), true);
        }
        equal(row.getUTF8String(7).toString(), "{\"o\":3}");
        equal(row.getStruct(8, 4).getUTF8String(2).toString(), "no luck");
        equal(row.getStruct(8, 4).isNullAt(3), true);
        equal(reader.next(), false);
    }

    static void onlyTheColumnsThatSparkAsksForAreInARowInItsOrder() throws Exception {
        StructType all = columns();
        StructField[] fields = {all.apply("source_offset"), all.apply("topic")};
        InternalRow row = first(reader(new PolledRecords.Carried(List.of((Object) FULL)), new StructType(fields)));
        equal(row.numFields(), 2);
        equal(row.getUTF8String(0).toString(), "{\"o\":2}");
        equal(row.getUTF8String(1).toString(), "orders");
    }

    static void rowsThatAreCarriedTravelWithTheTask() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new PolledRecords.Carried(new java.util.ArrayList<>(List.of((Object) FULL))));
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            InternalRow row = first(reader((PolledRecords.Rows) in.readObject(), columns()));
            equal(row.getBinary(2), KEY);
        }
    }

    static void rowsOfAProcessAreClosedWithTheirReader() throws Exception {
        boolean[] closed = {false};
        final class Remote implements Iterator<Object>, Closeable {
            @Override
            public boolean hasNext() {
                return false;
            }

            @Override
            public Object next() {
                return null;
            }

            @Override
            public void close() {
                closed[0] = true;
            }
        }

        reader(Remote::new, columns()).close();
        equal(closed[0], true);
    }

    private static StructType columns() {
        return new PolledRecords().inferSchema(CaseInsensitiveStringMap.empty());
    }

    private static PartitionReader reader(PolledRecords.Rows rows, StructType columns) throws Exception {
        PolledRecords.Reading reading = new PolledRecords.Reading(CaseInsensitiveStringMap.empty());
        reading.pruneColumns(columns);
        equal(reading.readSchema(), columns);
        return reading.createReaderFactory().createReader(rows);
    }

    private static InternalRow first(PartitionReader reader) throws Exception {
        equal(reader.next(), true);
        return (InternalRow) reader.get();
    }
}
