package io.headrace.lanes;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * The part of a feed that one lane has.
 *
 * @param feed the feed's number
 * @param part the number of this part in the feed
 * @param name connector and task, for logs and thread names
 * @param settings of the clients of its lane
 * @param partitions what it reads
 * @param chain what it does with each record
 * @param targets the topics that are known to exist
 * @param tolerates whether a record that fails is passed over (errors.tolerance=all); else the feed stops there
 * @param letters whether the chain makes a dead letter of it
 * @param skipsRefused whether a record that a producer or broker refuses for good is passed over; else the feed stops there
 * @param file where its lines go, empty: to the standard output; null: its records go to topics
 * @param letterProducer settings of the producer of dead letters, that of a record which ends the feed among them; null: they are
 *     written as other records are
 * @param transactions with exactly once: of its producer; else null
 * @param commitMs with exactly once: how long a transaction gathers records, 0: no longer than there are records to read
 */
record FeedSpec(
    long feed, int part, String name, Settings settings, List<Partition> partitions, ChainPlan chain, Map<String, Target> targets,
    boolean tolerates, boolean letters, boolean skipsRefused, String file, Map<String, String> letterProducer, Transactions transactions,
    long commitMs
) implements Serializable {
    /**
     * The settings of a lane's clients, under Kafka's names; lanes are shared by all feeds with equal ones.
     *
     * @param files whether it reads files (with the settings of a FileStreamSource), not topics
     */
    record Settings(Map<String, String> consumer, Map<String, String> producer, boolean files) implements Serializable { }

    /**
     * Who may write with a transactional id.
     *
     * @param producerId with {@code epoch}: what the brokers gave the fence after which the feed's offsets were read
     */
    record Transactions(String id, long producerId, int epoch) implements Serializable { }

    FeedSpec with(int newPart, List<Partition> newPartitions) {
        return new FeedSpec(feed, newPart, name, settings, newPartitions, chain, targets, tolerates, letters, skipsRefused, file,
            letterProducer, transactions, commitMs);
    }

    FeedSpec with(Map<String, Target> newTargets) {
        return new FeedSpec(feed, part, name, settings, partitions, chain, newTargets, tolerates, letters, skipsRefused, file,
            letterProducer, transactions, commitMs);
    }

    FeedSpec with(ChainPlan newChain) {
        return new FeedSpec(feed, part, name, settings, partitions, newChain, targets, tolerates, letters, skipsRefused, file,
            letterProducer, transactions, commitMs);
    }
}
