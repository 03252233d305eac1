package org.example;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;

/** A transform with an option of a group, which recommends values. */
public class Grouped<R extends ConnectRecord<R>> extends Shout<R> {
    @Override
    public ConfigDef config() {
        return super.config().define("table", ConfigDef.Type.STRING, "a", ConfigDef.Importance.HIGH, "Which.", "Table", 1,
            ConfigDef.Width.LONG, "Table", new Picky.Two());
    }
}
