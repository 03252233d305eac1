package io.headrace.connect;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.config.provider.ConfigProvider;

/** The config providers that a worker's properties name, by the ids that it gives them. */
final class ConfigProviders {
    private final PluginLoaders plugins;
    private final Map<String, ConfigProvider> providers = new ConcurrentHashMap<>();

    ConfigProviders(PluginLoaders plugins) {
        this.plugins = plugins;
    }

    @SuppressWarnings("unchecked")
    Object answer(String method, String id, Map<String, Object> request) {
        switch (method) {
            case "provider.start":
                providers.put(id, plugins.configured(request));
                return null;
            case "provider.get":
                ConfigProvider provider = providers.get(id);
                try (Swap swap = Swap.in(provider)) {
                    return provider.get((String) request.get("path"), new HashSet<>((List<String>) request.get("keys"))).data();
                }
            default:
                throw new IllegalArgumentException(method);
        }
    }
}
