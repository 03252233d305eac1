package io.headrace.connect;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.rest.errors.BadRequestException;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The options of a plugin, and its check of a configuration, as AbstractHerder writes them for REST. */
final class Definitions {
    private static final Logger LOG = LoggerFactory.getLogger(Definitions.class);

    private Definitions() {
    }

    /** `options`: definitions in order; `groups`. */
    static Map<String, Object> of(Object plugin) {
        ConfigDef def = definition(plugin);
        List<Object> options = new ArrayList<>();
        for (ConfigDef.ConfigKey key : def.configKeys().values()) {
            options.add(option(key));
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("options", options);
        answer.put("groups", def.groups());
        return answer;
    }

    private static ConfigDef definition(Object plugin) {
        ConfigDef def;
        if (plugin instanceof Connector) {
            def = ((Connector) plugin).config();
        } else if (plugin instanceof Transformation) {
            def = ((Transformation<?>) plugin).config();
        } else if (plugin instanceof Predicate) {
            def = ((Predicate<?>) plugin).config();
        } else if (plugin instanceof HeaderConverter) {
            def = ((HeaderConverter) plugin).config();
        } else {
            def = ((Converter) plugin).config();
        }
        if (def != null) {
            return def;
        }
        if (plugin instanceof Converter || plugin instanceof HeaderConverter) { // they are used all the same
            LOG.warn("{}.config() has returned a null ConfigDef; no further preflight config validation for this converter will be "
                + "performed", plugin.getClass().getName());
            return new ConfigDef();
        }
        String problem = plugin.getClass().getName() + ".config() must return a ConfigDef that is not null.";
        throw plugin instanceof Connector ? new BadRequestException(problem) : new ConnectException(problem);
    }

    /** `values`: what a connector's `validate`, or for others the definition itself, says about each option. */
    static Map<String, Object> validated(Object plugin, Map<String, String> props) {
        Map<String, ConfigDef.ConfigKey> keys = definition(plugin).configKeys();
        List<ConfigValue> values;
        if (plugin instanceof Connector) {
            Config config = ((Connector) plugin).validate(props);
            if (config == null) {
                throw new BadRequestException(plugin.getClass().getName() + ".validate() must return a Config that is not null.");
            }
            values = config.configValues();
        } else {
            values = definition(plugin).validate(props);
        }
        List<Object> answers = new ArrayList<>();
        for (ConfigValue value : values) {
            ConfigDef.ConfigKey key = keys.get(value.name());
            answers.add(value(value, key == null ? null : key.type));
        }
        Map<String, Object> answer = new LinkedHashMap<>(of(plugin));
        answer.put("values", answers);
        return answer;
    }

    private static Map<String, Object> value(ConfigValue value, ConfigDef.Type type) {
        List<String> recommended = new ArrayList<>();
        ConfigDef.Type typeOfItem = type == ConfigDef.Type.LIST ? ConfigDef.Type.STRING : type; // one value of a list is recommended
        for (Object item : value.recommendedValues()) {
            recommended.add(ConfigDef.convertToString(item, typeOfItem));
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("name", value.name());
        answer.put("value", ConfigDef.convertToString(value.value(), type));
        answer.put("recommended_values", recommended);
        answer.put("errors", value.errorMessages());
        answer.put("visible", value.visible());
        return answer;
    }

    private static Map<String, Object> option(ConfigDef.ConfigKey key) {
        boolean required = ConfigDef.NO_DEFAULT_VALUE.equals(key.defaultValue);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("name", key.name);
        answer.put("type", key.type.name());
        answer.put("required", required);
        answer.put("default_value", required ? null : ConfigDef.convertToString(key.defaultValue, key.type));
        answer.put("importance", key.importance.name());
        answer.put("documentation", key.documentation);
        answer.put("group", key.group);
        answer.put("order_in_group", key.orderInGroup);
        answer.put("width", key.width.name());
        answer.put("display_name", key.displayName);
        answer.put("dependents", key.dependents);
        return answer;
    }
}
