package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Plugins of chains that fail, or do not return, when they are configured. */
final class ChainCallsCases {
    private static final CountDownLatch CONFIGURING = new CountDownLatch(1);
    private static final CountDownLatch IN_TEST = new CountDownLatch(1);
    private static final CountDownLatch MAY_ANSWER = new CountDownLatch(1);
    private static final Object[] PARTS = {"t", null, null, null, null, null, null, null, new Object[0], "t"};

    private ChainCallsCases() {
    }

    static void whatAPluginThrowsComesToSparkWithoutSecrets() {
        Map<String, Object> request = request("a", "fail", "hunter2");
        equal(thrown(() -> calls().define(request)).contains("no login with [hidden]"), true);
        equal(thrown(() -> calls().answer("chain.define", "a", request)), "no login with hunter2"); // it is hidden by who asks
    }

    static void whatAnotherInstanceThrowsComesToSparkWithoutSecrets() throws Exception {
        ChainCalls calls = calls();
        calls.define(request("b", "once", "hunter2"));
        Thread first = new Thread(() -> calls.call("b", PARTS));
        first.start();
        IN_TEST.await();
        String thrown = thrown(() -> calls.call("b", PARTS));
        MAY_ANSWER.countDown();
        first.join();
        equal(thrown.contains("no login with [hidden]") && !thrown.contains("hunter2"), true);
    }

    static void nobodyWaitsForAPluginThatDoesNotReturn() throws Exception {
        ChainCalls calls = calls();
        Thread hanging = new Thread(() -> calls.define(request("Aa", "hang", "")));
        hanging.setDaemon(true);
        hanging.start();
        CONFIGURING.await();
        Thread other = new Thread(() -> calls.define(request("BB", "", ""))); // whose hash code is the same
        other.setDaemon(true);
        other.start();
        other.join(20_000);
        equal(other.isAlive(), false);
    }

    private static ChainCalls calls() {
        return new ChainCalls(new PluginLoaders(ChainCallsCases.class.getClassLoader()), () -> null);
    }

    private static Map<String, Object> request(String id, String how, String secret) {
        Map<String, Object> asked = Map.of("class", Troubled.class.getName(), "props", Map.of("how", how, "secret", secret));
        return Map.of("id", id, "kind", "predicate", "predicate", asked, "alias", "p", "secrets", List.of("hunter2"), "header",
            Map.of("class", "org.apache.kafka.connect.storage.SimpleHeaderConverter", "props", Map.of()));
    }

    private static String thrown(Runnable work) {
        try {
            work.run();
            return "nothing";
        } catch (RuntimeException e) {
            return e.getMessage();
        }
    }

    /** `fail`: when it is configured; `once`: but for the first instance; `hang`. */
    public static final class Troubled implements Predicate<SourceRecord> {
        private static int instances;

        @Override
        public void configure(Map<String, ?> props) {
            String how = (String) props.get("how");
            if (how.equals("fail") || how.equals("once") && instances++ > 0) {
                throw new IllegalStateException("no login with " + props.get("secret"));
            }
            if (how.equals("hang")) {
                CONFIGURING.countDown();
                await(new CountDownLatch(1));
            }
        }

        @Override
        public boolean test(SourceRecord record) {
            IN_TEST.countDown();
            await(MAY_ANSWER);
            return true;
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public void close() {
        }
    }
}
