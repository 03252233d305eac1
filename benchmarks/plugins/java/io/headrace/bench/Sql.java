package io.headrace.bench;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;

/** `Sql URL STATEMENT` runs statements; `Sql URL INSERT RATE COUNT` runs one with the time in ms as its parameter, so often a second. */
public final class Sql {
    private Sql() {
    }

    public static void main(String[] arguments) throws Exception {
        Connection connection = DriverManager.getConnection(arguments[0], "postgres", "");
        if (arguments.length == 2) {
            Statement statement = connection.createStatement();
            statement.execute(arguments[1]);
        } else {
            insert(connection.prepareStatement(arguments[1]), Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
        }
        connection.close();
    }

    private static void insert(PreparedStatement statement, int rate, int count) throws Exception {
        long begun = System.nanoTime();
        for (int number = 0; number < count; number++) {
            long due = begun + number * 1000000000L / rate;
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                Thread.sleep(left / 1000000, (int) (left % 1000000));
            }
            statement.setLong(1, System.currentTimeMillis());
            statement.execute();
        }
    }
}
