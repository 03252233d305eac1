package org.example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.ConfigProvider;

/**
 * Knows prefix, path and key put together for every key but `none`; throws for the path `closed`, with its `token`. Closed, it creates
 * the file `mark`.
 */
public class Vault implements ConfigProvider {
    private String prefix;
    private String mark;
    private String token;

    @Override
    public void configure(Map<String, ?> configs) {
        prefix = (String) configs.get("prefix");
        mark = (String) configs.get("mark");
        token = (String) configs.get("token");
        if (prefix == null) {
            throw new ConfigException("prefix is needed for " + token);
        }
    }

    @Override
    public ConfigData get(String path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ConfigData get(String path, Set<String> keys) {
        if (path.equals("closed")) {
            throw new ConfigException("the vault is closed for " + token);
        }
        Map<String, String> data = new HashMap<>();
        keys.stream().filter(key -> !key.equals("none")).forEach(key -> data.put(key, prefix + path + key));
        return new ConfigData(data);
    }

    @Override
    public void close() throws IOException {
        if (mark != null) {
            Files.createFile(Path.of(mark));
        }
    }
}
