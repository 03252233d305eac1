package io.headrace.hosts;

import static io.headrace.Cases.equal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What the driver asks an executor, without either. */
final class MailboxCases {
    private static final Object[] NO_ANSWERS = {};

    private MailboxCases() {
    }

    static void questionsStayUntilTheExecutorHasHeardThem() {
        Mailbox mailbox = mailbox(new AtomicLong());
        mailbox.tell("pause", "a");
        mailbox.tell("resume", "b");
        Object[] both = {new Object[] {1L, "pause", "a"}, new Object[] {2L, "resume", "b"}};
        equal(mailbox.exchange(0, NO_ANSWERS), both);
        equal(mailbox.exchange(0, NO_ANSWERS), both); // the answer to the first exchange may have been lost on its way
        equal(mailbox.exchange(1, NO_ANSWERS), new Object[] {both[1]});
        equal(mailbox.exchange(2, NO_ANSWERS), NO_ANSWERS);
    }

    static void anAnswerGoesToWhoAskedWhateverTheirOrder() throws Exception {
        Mailbox mailbox = mailbox(new AtomicLong());
        CompletableFuture<String> first = asked(mailbox, "first", 1);
        CompletableFuture<String> second = asked(mailbox, "second", 2);
        mailbox.exchange(2, new Object[] {new Object[] {2L, "two"}, new Object[] {1L, "one"}, new Object[] {7L, "of nobody"}});
        equal(first.get(120, TimeUnit.SECONDS), "one");
        equal(second.get(120, TimeUnit.SECONDS), "two");
        mailbox.exchange(2, new Object[] {new Object[] {2L, "again"}}); // sent twice: nobody waits for it any more
    }

    static void anExecutorThatIsNotHeardInTimeIsLostWithAllThatWasAskedOfIt() throws Exception {
        AtomicLong now = new AtomicLong();
        Mailbox mailbox = mailbox(now);
        now.addAndGet(TimeUnit.SECONDS.toNanos(11));
        equal(mailbox.isLost(), false);
        mailbox.exchange(0, NO_ANSWERS);
        now.addAndGet(TimeUnit.SECONDS.toNanos(11));
        equal(mailbox.isLost(), false); // it was heard in between
        CompletableFuture<String> waiting = asked(mailbox, "poll", 1);
        now.addAndGet(TimeUnit.SECONDS.toNanos(13));
        equal(waiting.get(120, TimeUnit.SECONDS), null); // who waits looks at the time, too
        equal(mailbox.isLost(), true);
        equal(mailbox.exchange(0, NO_ANSWERS), null); // by which the executor hears that its generation is over
        equal(mailbox.ask("poll", "{}"), null);
    }

    static void ofALostGenerationNothingCountsAnyMore() throws Exception {
        Mailbox mailbox = mailbox(new AtomicLong());
        CompletableFuture<String> waiting = asked(mailbox, "start", 1);
        mailbox.lose();
        equal(waiting.get(120, TimeUnit.SECONDS), null);
        mailbox.tell("stop", "late");
        equal(mailbox.exchange(0, new Object[] {new Object[] {1L, "late"}}), null);
    }

    static void anExecutorIsNamedWithItsGeneration() {
        equal(mailbox(new AtomicLong()).id(), "3#7");
    }

    private static Mailbox mailbox(AtomicLong now) {
        return new Mailbox("3", "machine", 7, now::get);
    }

    /** Ask on a thread of its own; returns once the question, the one with this number, is in the mailbox. */
    private static CompletableFuture<String> asked(Mailbox mailbox, String method, int number) throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                answer.complete(mailbox.ask(method, "{}"));
            } catch (Exception e) {
                answer.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        while (mailbox.exchange(0, NO_ANSWERS).length < number) {
            Thread.onSpinWait();
        }
        return answer;
    }
}
