package io.headrace;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Runs the cases of a class, its static methods without parameters, up to the first that fails. */
public final class Cases {
    private Cases() {
    }

    public static void main(String[] arguments) throws Exception {
        for (Method method : Class.forName(arguments[0]).getDeclaredMethods()) {
            if (Modifier.isStatic(method.getModifiers()) && method.getParameterCount() == 0 && !method.isSynthetic()) {
                System.out.println(method.getName());
                method.setAccessible(true);
                method.invoke(null);
            }
        }
    }

    public static void equal(Object actual, Object expected) {
        if (!java.util.Objects.deepEquals(actual, expected)) {
            throw new AssertionError(show(actual) + " instead of " + show(expected));
        }
    }

    private static String show(Object value) {
        return value instanceof Object[] ? java.util.Arrays.deepToString((Object[]) value) : String.valueOf(value);
    }
}
