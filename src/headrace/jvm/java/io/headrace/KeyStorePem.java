package io.headrace;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.Enumeration;

/**
 * Writes what is in a key store (JKS, PKCS12, whatever this Java knows) as PEM to standard output, for readers that know nothing else.
 *
 * <p>Arguments: type and file. Standard input: the password of the store and that of its key, a line each, an empty one for none.
 * What goes wrong is one line on standard error, and status 1.
 */
public final class KeyStorePem {
    private KeyStorePem() {
    }

    public static void main(String[] arguments) {
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            write(arguments[0], arguments[1], password(input.readLine()), password(input.readLine()));
        } catch (Exception problem) {
            String message = problem.getMessage();
            System.err.println(message == null ? problem.getClass().getName() : message);
            System.exit(1);
        }
    }

    private static char[] password(String line) {
        return line == null || line.isEmpty() ? null : line.toCharArray();
    }

    private static void write(String type, String file, char[] storePassword, char[] keyPassword) throws Exception {
        KeyStore store = KeyStore.getInstance(type);
        FileInputStream content = new FileInputStream(file);
        try {
            store.load(content, storePassword);
        } finally {
            content.close();
        }
        char[] forKey = keyPassword == null ? storePassword : keyPassword;
        Enumeration names = store.aliases();
        while (names.hasMoreElements()) {
            String name = (String) names.nextElement();
            if (store.isKeyEntry(name)) {
                Key key = store.getKey(name, forKey == null ? new char[0] : forKey);
                block("PRIVATE KEY", key.getEncoded());
                Certificate[] chain = store.getCertificateChain(name);
                for (int i = 0; i < chain.length; i++) {
                    block("CERTIFICATE", chain[i].getEncoded());
                }
            } else {
                block("CERTIFICATE", store.getCertificate(name).getEncoded());
            }
        }
    }

    private static void block(String what, byte[] content) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        System.out.println("-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----");
    }
}
