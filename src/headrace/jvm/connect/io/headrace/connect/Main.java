package io.headrace.connect;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Questions to a host in a process of its own: lines of standard input, a method and its JSON in turn; prints the last one's answer.
 * Arguments would not do: the archives of a large plugin.path are more than the system takes as one.
 */
public final class Main {
    private Main() {
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // a plugin that prints must not spoil the answer
        Host host = new Host();
        Object answer = null;
        for (String method = in.readLine(); method != null; method = in.readLine()) {
            answer = host.apply("ask", new Object[] {method, in.readLine()});
        }
        out.println(answer);
        System.exit(0); // whatever threads plugins have left
    }
}
