package io.headrace.streams;

import org.apache.spark.sql.catalyst.util.ArrayData;

/** The versions that a row of a table has had in a batch. */
public final class Versions {
    private Versions() {
    }

    /**
     * How many versions are not behind a place.
     *
     * @param versions structs, each of a place and a value, in the order of their places
     * @param place numbers that are compared one after the other
     */
    public static int until(ArrayData versions, ArrayData place) {
        int low = 0;
        int high = versions.numElements();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (compare(versions.getStruct(middle, 2).getArray(0), place) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static int compare(ArrayData one, ArrayData other) {
        int both = Math.min(one.numElements(), other.numElements());
        for (int i = 0; i < both; i++) {
            int order = Long.compare(one.getLong(i), other.getLong(i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(one.numElements(), other.numElements());
    }
}
