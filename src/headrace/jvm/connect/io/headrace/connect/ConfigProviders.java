package io.headrace.connect;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The config providers that a worker's properties name, by the ids that it gives them. */
final class ConfigProviders {
    private static final Logger LOG = LoggerFactory.getLogger(ConfigProviders.class);

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
                try (ContextLoader swapped = ContextLoader.in(provider)) {
                    return provider.get((String) request.get("path"), new HashSet<>((List<String>) request.get("keys"))).data();
                }
            default:
                throw new IllegalArgumentException(method);
        }
    }

    /** Close all of them; what one throws is logged. */
    void close() {
        for (ConfigProvider provider : providers.values()) {
            try (ContextLoader swapped = ContextLoader.in(provider)) {
                provider.close();
            } catch (Exception | LinkageError e) {
                LOG.warn("The config provider {} could not be closed.", provider.getClass().getName(), e);
            }
        }
    }
}
