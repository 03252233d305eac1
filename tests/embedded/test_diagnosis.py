from __future__ import annotations

from headrace.embedded.diagnosis import explain

# as Kafka 4.3.0 wrote them, most stack frames left out
TAKEN = """\
2026-11-21T09:50:59.369 [main] ERROR kafka.Kafka$ - Exiting Kafka due to fatal exception during startup.
java.lang.RuntimeException: Received a fatal error while waiting for all of the SocketServer Acceptors to be started
\tat org.apache.kafka.server.util.FutureUtils.waitWithLogging(FutureUtils.java:72)
Caused by: org.apache.kafka.common.KafkaException: Socket server failed to bind to 127.0.0.1:29544: Address already in use.
\t... 16 more
Caused by: java.net.BindException: Address already in use
2026-11-21T09:50:59.431 [kafka-shutdown-hook] WARN org.apache.kafka.clients.NetworkClient - Attempting to close
"""
FULL = """\
2026-11-21T09:51:45.659 [data-plane-kafka-request-handler-7] ERROR org.apache.kafka.storage.internals.log.LogDirFailureChannel - \
Error while appending records to t-0 in dir /data/kafka
java.io.IOException: No space left on device
\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)
"""
LOCKED = """\
2026-11-21T09:51:02.072 [main] ERROR kafka.server.BrokerServer - [BrokerServer id=1] Fatal error during broker startup.
org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /data/kafka.
\tat kafka.log.LogManager.$anonfun$lockLogDirs$1(LogManager.scala:281)
2026-11-21T09:51:02.100 [kafka-shutdown-hook] INFO kafka.server.SharedServer - [SharedServer id=1] Stopping SharedServer
"""
REFUSED = """\
Exception in thread "main" org.apache.kafka.common.config.ConfigException: Invalid value x for configuration num.partitions: \
Not a number of type INT
\tat org.apache.kafka.common.config.ConfigDef.parseType(ConfigDef.java:787)
"""
WRAPPED = """\
2026-11-21T09:51:02.072 [main] ERROR kafka.Kafka$ - Exiting Kafka due to fatal exception
java.lang.RuntimeException: outer
Caused by: java.util.concurrent.TimeoutException
"""


def test_a_port_in_use_is_said_with_its_address():
    assert explain(TAKEN) == "it cannot listen on 127.0.0.1:29544: Address already in use."


def test_a_full_disk_is_said():
    assert explain(FULL) == "the disk is full."


def test_the_exception_counts_more_than_the_line_that_announces_it():
    assert explain(LOCKED) == "Failed to acquire lock on file .lock in /data/kafka."


def test_an_exception_that_nobody_logged_is_said():
    assert explain(REFUSED) == "Invalid value x for configuration num.partitions: Not a number of type INT."


def test_the_innermost_cause_with_a_message_counts():
    assert explain(WRAPPED) == "outer."


def test_without_an_error_the_last_line_is_said():
    assert explain("one\ntwo\n\n") == "two."


def test_silence_is_said():
    assert explain("") == "it wrote nothing."
