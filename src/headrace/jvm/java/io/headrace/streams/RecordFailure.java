package io.headrace.streams;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.spark.SparkThrowable;
import org.apache.spark.api.python.PythonException;
import org.apache.spark.memory.SparkOutOfMemoryError;

/** What went wrong with a record: what an expression or a function of the user's has thrown, and not the machine or the cluster. */
final class RecordFailure {
    private RecordFailure() {
    }

    /** Exception, message and stack trace; nothing if it is no record's fault. */
    static List<String> of(Throwable error) {
        for (Throwable one = error; one != null; one = one.getCause()) {
            boolean known = one instanceof SparkThrowable && ((SparkThrowable) one).getCondition() != null;
            boolean large = one instanceof RecordTooLargeException;
            if ((known || large || one instanceof PythonException) && !(one instanceof SparkOutOfMemoryError)) {
                StringWriter trace = new StringWriter();
                one.printStackTrace(new PrintWriter(trace));
                return List.of(one.getClass().getName(), String.valueOf(one.getMessage()), trace.toString());
            }
        }
        return List.of();
    }
}
