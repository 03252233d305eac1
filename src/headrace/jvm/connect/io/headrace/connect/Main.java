package io.headrace.connect;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Questions to a host in a process of its own: a method and its JSON, in turn; prints the last one's answer. */
public final class Main {
    private Main() {
    }

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // a plugin that prints must not spoil the answer
        Host host = new Host();
        Object answer = null;
        for (int i = 0; i < arguments.length; i += 2) {
            answer = host.apply("ask", new Object[] {arguments[i], arguments[i + 1]});
        }
        out.println(answer);
        System.exit(0); // whatever threads plugins have left
    }
}
