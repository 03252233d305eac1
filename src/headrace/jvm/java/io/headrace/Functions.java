package io.headrace;

import io.headrace.streams.StateFunctions;
import io.headrace.streams.Versions;
import java.util.Set;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.TryEval;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * The SQL functions that headrace adds to a session (`spark.sql.extensions`): what JSON, Java's dates and Java's numbers mean to
 * Kafka Connect and Spark has no function for. Each is a static method that Spark's generated code calls, so a chain of transforms
 * stays one pass. They never throw for a record's data: null, or an error in the result, says that it does not fit.
 *
 * <p>No generics, because Janino, which compiles this file, checks the erased signatures.
 */
public final class Functions extends AbstractFunction1 {
    public Object apply(Object extensions) {
        SparkSessionExtensions target = (SparkSessionExtensions) extensions;
        DataType text = DataTypes.StringType;
        DataType number = DataTypes.LongType;
        define(target, "headrace_json_read", JsonRead.class, "read", null);
        define(target, "headrace_avro_read", AvroRead.class, "read", null);
        define(target, "headrace_avro_text", AvroRead.class, "text", AvroRead.TEXT);
        define(target, "headrace_registry_write", RegistryWrite.class, "write", RegistryWrite.TYPE);
        define(target, "headrace_plugin_stages", PluginCall.class, "stages", PluginCall.RECORD);
        define(target, "headrace_plugin_predicate", PluginCall.class, "predicate", PluginCall.HOLDS);
        define(target, "headrace_plugin_read", PluginCall.class, "read", PluginCall.CONVERTED);
        define(target, "headrace_plugin_write", PluginCall.class, "write", PluginCall.CONVERTED);
        define(target, "headrace_plugin_header", PluginCall.class, "header", PluginCall.BYTES);
        define(target, "headrace_payload_read", PayloadRead.class, "read", null);
        define(target, "headrace_registry_open", RegistryEnvelope.class, "open", JsonEnvelope.TYPE);
        define(target, "headrace_json_envelope", JsonEnvelope.class, "open", JsonEnvelope.TYPE);
        define(target, "headrace_json_normal", JsonNormal.class, "normal", JsonNormal.TYPE);
        define(target, "headrace_json_quote", JsonText.class, "quote", text);
        define(target, "headrace_json_hashed", JsonText.class, "hashed", text);
        define(target, "headrace_json_flat", JsonText.class, "flat", text);
        define(target, "headrace_json_last", JsonText.class, "last", number);
        define(target, "headrace_java_text", JsonText.class, "javaText", text);
        define(target, "headrace_java_text_of", JavaText.class, "of", text);
        define(target, "headrace_json_long", JsonCast.class, "toLong", number);
        define(target, "headrace_json_double", JsonCast.class, "toDouble", DataTypes.DoubleType);
        define(target, "headrace_json_float", JsonCast.class, "toFloat", DataTypes.FloatType);
        define(target, "headrace_json_boolean", JsonCast.class, "toBoolean", DataTypes.BooleanType);
        define(target, "headrace_json_text", JsonCast.class, "toText", text);
        define(target, "headrace_date_format", Dates.class, "format", text);
        define(target, "headrace_date_parse", Dates.class, "parse", number);
        define(target, "headrace_date_again", Dates.class, "again", text);
        define(target, "headrace_parse_long", Numbers.class, "parseLong", number);
        define(target, "headrace_parse_double", Numbers.class, "parseDouble", DataTypes.DoubleType);
        define(target, "headrace_parse_float", Numbers.class, "parseFloat", DataTypes.FloatType);
        define(target, "headrace_decimal_read", Numbers.class, "decimalRead", text);
        define(target, "headrace_decimal_bytes", Numbers.class, "decimalBytes", DataTypes.BinaryType);
        define(target, "headrace_decimal_long", Numbers.class, "decimalLong", number);
        define(target, "headrace_regex_matches", Regex.class, "matches", DataTypes.BooleanType);
        define(target, "headrace_regex_replace", Regex.class, "replace", text);
        define(target, "headrace_regex_problem", Regex.class, "problem", text);
        define(target, "headrace_header_text", Headers.class, "ofNested", text);
        define(target, "headrace_header_text_of", HeaderText.class, "of", text);
        define(target, "headrace_header_literal", Headers.class, "literal", Headers.TYPE);
        target.injectFunction(new Tuple3(new FunctionIdentifier("headrace_failed_filter"),
            new ExpressionInfo(FailedRecordFilter.class.getName(), "headrace_failed_filter"), new FailedRecordFilter.Builder()));
        target.injectFunction(new Tuple3(new FunctionIdentifier("headrace_count"), new ExpressionInfo(Count.class.getName(), "headrace_count"),
            new Count.Builder()));
        define(target, "headrace_headers_without", Headers.class, "without", Headers.ARRAY);
        define(target, "headrace_here", FailedRecordFilter.class, "here", DataTypes.BooleanType);
        define(target, "headrace_headers_normal", Headers.class, "normal", Headers.NORMAL);
        define(target, "headrace_bytes_long", Numbers.class, "bytesLong", number);
        define(target, "headrace_long_bytes", Numbers.class, "longBytes", DataTypes.BinaryType);
        define(target, "headrace_bytes_double", Numbers.class, "bytesDouble", DataTypes.DoubleType);
        define(target, "headrace_bytes_float", Numbers.class, "bytesFloat", DataTypes.FloatType);
        define(target, "headrace_float_bytes", Numbers.class, "floatBytes", DataTypes.BinaryType);
        define(target, "headrace_double_bytes", Numbers.class, "doubleBytes", DataTypes.BinaryType);
        define(target, "headrace_double_long", Numbers.class, "doubleLong", number);
        define(target, "headrace_encode", JsonText.class, "encode", DataTypes.BinaryType);
        define(target, "headrace_decode", JsonText.class, "decode", text);
        define(target, "headrace_is_charset", JsonText.class, "isCharset", DataTypes.BooleanType);
        define(target, "headrace_lines", Lines.class, "of", Lines.TYPE);
        define(target, "headrace_base64", JsonText.class, "base64", DataTypes.BinaryType);
        define(target, "headrace_versions_until", Versions.class, "until", DataTypes.IntegerType);
        state(target, "headrace_state_get", "get", DataTypes.BinaryType);
        state(target, "headrace_state_scan", "scan", StateFunctions.ROWS);
        state(target, "headrace_state_rows_of_key", "rowsOfKey", StateFunctions.ROWS);
        state(target, "headrace_state_range", "range", StateFunctions.ROWS);
        state(target, "headrace_state_oldest", "oldest", StateFunctions.ROWS);
        state(target, "headrace_state_total", "total", number);
        state(target, "headrace_state_version", "version", DataTypes.BinaryType);
        state(target, "headrace_failure", "failure", text);
        state(target, "headrace_left_out", "leftOut", DataTypes.BooleanType);
        state(target, "headrace_stream_time", "clock", number);
        ExpressionInfo info = new ExpressionInfo(TryEval.class.getName(), "headrace_try");
        target.injectFunction(new Tuple3(new FunctionIdentifier("headrace_try"), info, new Try()));
        return BoxedUnit.UNIT;
    }

    private static void define(SparkSessionExtensions target, String name, Class home, String method, DataType type) {
        ExpressionInfo info = new ExpressionInfo(home.getName(), name);
        target.injectFunction(new Tuple3(new FunctionIdentifier(name), info, new Builder(home, method, type)));
    }

    /** What differs from batch to batch: never computed in advance or twice, and null where nothing is known. */
    private static void state(SparkSessionExtensions target, String name, String method, DataType type) {
        ExpressionInfo info = new ExpressionInfo(StateFunctions.class.getName(), name);
        target.injectFunction(new Tuple3(new FunctionIdentifier(name), info, new AbstractFunction1() {
            public Object apply(Object arguments) {
                return new StaticInvoke(StateFunctions.class, type, method, (Seq) arguments, (Seq) (Object) Nil$.MODULE$, true, true,
                    false, Option.empty());
            }
        }));
    }

    /** Makes the call from the arguments; a result type of null: the second argument, a literal, decides it. */
    public static final class Builder extends AbstractFunction1 {
        private static final Set READERS = Set.of(JsonEnvelope.class, RegistryEnvelope.class, AvroRead.class, RegistryWrite.class,
            FailedRecordFilter.class, PluginCall.class);

        private final Class home;
        private final String method;
        private final DataType type;

        public Builder(Class home, String method, DataType type) {
            this.home = home;
            this.method = method;
            this.type = type;
        }

        public Object apply(Object arguments) {
            Seq given = (Seq) arguments;
            DataType result = type;
            if (result == null) {
                result = JsonRead.type(((Literal) given.apply(1)).value().toString());
            }
            // What is read once and used many times must not be inlined into every use: Spark copies deterministic expressions only.
            boolean reads = type == null || READERS.contains(home);
            return new StaticInvoke(home, result, method, given, (Seq) (Object) Nil$.MODULE$, true, !reads, !reads, Option.empty());
        }
    }

    /** `headrace_try(x)`: x, or NULL where it fails. */
    public static final class Try extends AbstractFunction1 {
        public Object apply(Object arguments) {
            return new TryEval((Expression) ((Seq) arguments).apply(0));
        }
    }
}
