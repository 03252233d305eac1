package io.headrace;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A range of what a hosted source task has polled, in order, as often as it is read until it is acknowledged.
 *
 * <p>Options: `task`, `from`, `to` (numbers of records), `carried`: the rows travel with the Spark task that reads them, which runs in
 * a process that has no host of plugins.
 */
public class PolledRecords implements TableProvider {
    private static final int SOURCE_PARTITION = 6;
    private static final int SOURCE_OFFSET = 7;
    private static final int FAILURE = 8;
    private static final StructType HEADER = new StructType(new StructField[] {
        field("key", DataTypes.StringType), field("value", DataTypes.BinaryType),
    });
    private static final StructType REASON = new StructType(new StructField[] {
        field("step", DataTypes.StringType), field("class", DataTypes.StringType), field("message", DataTypes.StringType),
        field("cause", DataTypes.StringType),
    });
    private static final StructType SCHEMA = new StructType(new StructField[] {
        field("topic", DataTypes.StringType), field("partition", DataTypes.IntegerType), field("key", DataTypes.BinaryType),
        field("value", DataTypes.BinaryType), field("headers", DataTypes.createArrayType(HEADER)),
        field("timestamp", DataTypes.LongType), field("source_partition", DataTypes.StringType),
        field("source_offset", DataTypes.StringType), field("failure", REASON),
    });

    private static StructField field(String name, DataType type) {
        return new StructField(name, type, true, Metadata.empty());
    }

    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    public Table getTable(StructType schema, Transform[] partitioning, Map properties) {
        return new Polled(new CaseInsensitiveStringMap(properties));
    }

    static final class Polled implements Table, SupportsRead {
        private final CaseInsensitiveStringMap options;

        Polled(CaseInsensitiveStringMap options) {
            this.options = options;
        }

        public String name() {
            return "records of " + options.get("task");
        }

        public StructType schema() {
            return SCHEMA;
        }

        public Set capabilities() {
            return Collections.singleton(TableCapability.BATCH_READ);
        }

        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap given) {
            return new Reading(options);
        }
    }

    static final class Reading implements ScanBuilder, SupportsPushDownRequiredColumns, Scan, Batch {
        private final CaseInsensitiveStringMap options;
        private StructType columns = SCHEMA;

        Reading(CaseInsensitiveStringMap options) {
            this.options = options;
        }

        public void pruneColumns(StructType required) {
            columns = required;
        }

        public Scan build() {
            return this;
        }

        public StructType readSchema() {
            return columns;
        }

        public Batch toBatch() {
            return this;
        }

        /** One partition: the order of records is the task's. */
        public InputPartition[] planInputPartitions() {
            return new InputPartition[] {options.getBoolean("carried", false) ? new Carried(rows()) : new Range(options, origin())};
        }

        private List rows() {
            List rows = new ArrayList();
            new Range(options, origin()).rows().forEachRemaining(rows::add);
            return rows;
        }

        private boolean origin() {
            boolean origin = false;
            for (int number : numbers()) {
                origin |= number == SOURCE_PARTITION || number == SOURCE_OFFSET;
            }
            return origin;
        }

        private int[] numbers() {
            int[] numbers = new int[columns.length()];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = SCHEMA.fieldIndex(columns.fields()[i].name());
            }
            return numbers;
        }

        public PartitionReaderFactory createReaderFactory() {
            return new Factory(numbers());
        }
    }

    /** What a reader gets. */
    interface Rows extends InputPartition {
        Iterator rows();
    }

    /** Rows that the host in this JVM has. */
    static final class Range implements Rows {
        private final String task;
        private final long from;
        private final long to;
        private final boolean origin;

        Range(CaseInsensitiveStringMap options, boolean origin) {
            this.task = options.get("task");
            this.from = options.getLong("from", 0L);
            this.to = options.getLong("to", 0L);
            this.origin = origin;
        }

        public Iterator rows() {
            return ConnectHost.rows(task, from, to, origin);
        }
    }

    /** The rows themselves, of JDK types. */
    static final class Carried implements Rows {
        private final List rows;

        Carried(List rows) {
            this.rows = rows;
        }

        public Iterator rows() {
            return rows.iterator();
        }
    }

    static final class Factory implements PartitionReaderFactory {
        private final int[] columns;

        Factory(int[] columns) {
            this.columns = columns;
        }

        public PartitionReader createReader(InputPartition partition) {
            return new Reader(((Rows) partition).rows(), columns);
        }
    }

    static final class Reader implements PartitionReader {
        private final Iterator rows;
        private final int[] columns;

        Reader(Iterator rows, int[] columns) {
            this.rows = rows;
            this.columns = columns;
        }

        public boolean next() {
            return rows.hasNext();
        }

        public Object get() {
            Object[] row = (Object[]) rows.next();
            Object[] values = new Object[columns.length];
            for (int i = 0; i < columns.length; i++) {
                values[i] = columns[i] == FAILURE ? texts(row[FAILURE]) : value(row[columns[i]]);
            }
            return new GenericInternalRow(values);
        }

        private static Object texts(Object failure) {
            return failure == null ? null : PluginCall.texts((Object[]) failure);
        }

        private static Object value(Object value) {
            if (value instanceof String) {
                return UTF8String.fromString((String) value);
            }
            if (!(value instanceof Object[])) {
                return value;
            }
            Object[] pairs = (Object[]) value;
            Object[] headers = new Object[pairs.length];
            for (int i = 0; i < headers.length; i++) {
                Object[] pair = (Object[]) pairs[i];
                headers[i] = new GenericInternalRow(new Object[] {UTF8String.fromString((String) pair[0]), pair[1]});
            }
            return new GenericArrayData(headers);
        }

        public void close() throws IOException {
            if (rows instanceof Closeable) {
                ((Closeable) rows).close();
            }
        }
    }
}
