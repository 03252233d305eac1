package io.headrace.streams;

import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * How a batch is cut: which piece has which partition.
 *
 * @param partitions how many there are
 * @param count how many pieces
 */
public record BatchPieces(int partitions, int count) {
    /** The piece that has a partition. */
    int of(int partition) {
        return of(partition, count);
    }

    /** The pieces that have some partitions, a line of numbers. */
    TreeSet<Integer> of(String line) {
        TreeSet<Integer> found = new TreeSet<>();
        for (String partition : line.split("\t")) {
            found.add(of(Integer.parseInt(partition)));
        }
        return found;
    }

    List<Integer> partitionsOf(int piece) {
        return IntStream.range(0, partitions).filter(partition -> of(partition) == piece).boxed().toList();
    }

    /** As Spark's `HashPartitioning` says. */
    private static int of(int partition, int count) {
        return Math.floorMod(Murmur3_x86_32.hashInt(partition, 42), count);
    }

    /** The fewest pieces that put no more partitions into one than they have to, for so many slots. */
    public static int fewest(int partitions, int slots) {
        int most = Math.min(partitions, 4 * slots);
        int best = 1;
        int least = partitions;
        for (int count = 2; count <= 8 * most && least > (partitions + most - 1) / most; count++) {
            int[] sizes = new int[count];
            int largest = 0;
            for (int partition = 0; partition < partitions; partition++) {
                largest = Math.max(largest, ++sizes[of(partition, count)]);
            }
            if (largest < least) {
                least = largest;
                best = count;
            }
        }
        return best;
    }
}
