package io.headrace;

import io.headrace.hosts.HostAgent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What plugins in Java have answered for the records of a partition that a lane takes later: they wait for a schema, or for a topic. So a
 * plugin is called once for each record, and its own metrics count it once. For one thread.
 */
public final class PluginAnswers {
    private static final int MOST = 10_000; // records; a plugin is called again for further ones
    private static final ThreadLocal<PluginAnswers> PRESENT = new ThreadLocal<>();
    private final Map<Long, List<Answer>> waiting = new HashMap<>(); // by offset
    private long offset;
    private List<Answer> answers = new ArrayList<>(); // for the record at this offset

    /** One call of a plugin: id and parts of a record, and what came of it. */
    private static final class Answer {
        private final String id;
        private final Object[] parts;
        private final Object answer;
        private boolean used = true; // by the chain that is being applied

        Answer(String id, Object[] parts, Object answer) {
            this.id = id;
            this.parts = parts;
            this.answer = answer;
        }
    }

    /** What plugins answer on this thread, from here on, is for the record at this offset. */
    public void begin(long recordOffset) {
        offset = recordOffset;
        List<Answer> before = waiting.isEmpty() ? null : waiting.remove(recordOffset);
        if (before != null) {
            answers = before;
        } else if (!answers.isEmpty()) {
            answers.clear();
        }
        repeat();
        PRESENT.set(this);
    }

    /** The record goes through another chain, with the same plugins. */
    public void repeat() {
        for (Answer answer : answers) {
            answer.used = false;
        }
    }

    /** The record comes again. */
    public void keep() {
        if (!answers.isEmpty() && waiting.size() < MOST) {
            waiting.put(offset, answers);
            answers = new ArrayList<>();
        }
    }

    /** What the plugins of this id make of the parts of a record, or have made of them. */
    static Object of(String id, Object[] parts) {
        PluginAnswers present = PRESENT.get();
        if (present == null) {
            return HostAgent.chain(id, parts);
        }
        for (Answer answer : present.answers) {
            if (!answer.used && answer.id.equals(id) && Arrays.deepEquals(answer.parts, parts)) {
                answer.used = true;
                return answer.answer;
            }
        }
        Object made = HostAgent.chain(id, parts);
        present.answers.add(new Answer(id, parts, made));
        return made;
    }
}
