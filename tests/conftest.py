"""Two real Kafka clusters, a worker and what goes with them, one of each for the whole session."""

from __future__ import annotations

import itertools
import os
import sys
import uuid
from collections.abc import Callable, Generator, Iterator, MutableMapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from headrace.embedded import Broker
from headrace.embedded import broker as embedded_broker
from headrace.embedded import ports as embedded_ports
from headrace.embedded.ports import free_port
from headrace.kafka import tail as kafka_tail
from headrace.spark import session as spark_session
from headrace.spark.optional_jars import FORMATS
from tests.browser import NO_BROWSER, browser_path
from tests.clusters import Cluster
from tests.process import worker_properties
from tests.support import INTERPRETED, QUICK_JVM, captured_logs, everything, log_restored, without_skip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.testing.worker import EmbeddedWorker

# The same examples each time, so that a failure is of the change that is tested; HEADRACE_TESTS=all looks for new ones.
# No time limit for an example, or for making them: a test does not depend on how busy the machine is.
hypothesis.settings.register_profile(
    "same",
    derandomize=not everything(),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("same")

# The process has one session, made by whoever asks first: it has what tests of formats need. It lives as long as the process, and
# plans all the time: unlike for what ends soon (QUICK_JVM), optimizing its code saves a quarter of its CPU time.
spark_session._DEFAULTS[FORMATS] = "delta,postgresql"
spark_session._JIT += " -XX:+UseSerialGC"
embedded_broker._JAVA_OPTIONS += tuple(QUICK_JVM.split())
kafka_tail._POLL_S = 0.1  # what the end of a store waits for at most, of which tests have hundreds

if _xdist := os.environ.get("PYTEST_XDIST_WORKER"):
    # Each process of a run has ports of its own: one may have asked for a free one, and not listen on it yet.
    _processes = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    embedded_ports._PORTS = embedded_ports._PORTS[int(_xdist.removeprefix("gw")) :: _processes]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write golden files from what the tests see, instead of comparing")
    parser.addoption("--fast", action="store_true", help="only tests that start no broker, no Spark, no database and no browser")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--fast"):
        config.addinivalue_line("filterwarnings", "error")


_SLOW = frozenset({"source_broker", "destination_broker", "secured", "tls_broker", "spark", "browser", "postgres"})
"""The fixtures, behind all others, that start something."""


_LONG = (
    "tests/transforms/test_conformance.py",
    "tests/docs/test_tutorials.py",
    "tests/conformance/test_rest.py",
    "tests/java_plugins/test_debezium_kill.py",
    "tests/streams/running/test_results.py",
    "tests/page/test_operator.py",
    "tests/streams/running/test_killed.py",
    "tests/spark_formats/test_delta_merge.py",
    "tests/conformance/test_interoperability.py",
    "tests/kafka_source/test_faults_among_many.py",
    "tests/java_plugins/test_cdc.py",
    "tests/java_plugins/test_executors.py",
    "tests/deploy/test_wheel.py",
    "tests/streams/running/test_restore.py",
    "tests/kafka_source/test_data_loss.py",
    "tests/streams/running/test_topics_while_running.py",
    "tests/spark_formats/test_docs.py",
    "tests/streams/running/test_application.py",
)
"""The files that take longest: they come first, so that no process still has one of them when the others have ended."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        slow = [item for item in items if _SLOW & set(getattr(item, "fixturenames", ())) or item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
        sys.addaudithook(_refuse_processes)
    order = {file: number for number, file in enumerate(_LONG)}
    items.sort(key=lambda item: order.get(item.nodeid.partition("::")[0], len(order)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return without_skip(report) if everything() else report


def _refuse_processes(event: str, args: tuple[object, ...]) -> None:
    """A fast test starts no process, so no Java either: one that does is marked `slow`."""
    if event == "subprocess.Popen":
        raise AssertionError(f"with --fast no process is started; mark the test with pytest.mark.slow: {args[1]}")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with a file in `golden/` beside the test: `golden("help.txt", text)`; `--rewrite` writes the file."""

    def compare(name: str, text: str) -> None:
        file = Path(request.path).parent / "golden" / name
        if request.config.getoption("--rewrite"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session")
def source_broker() -> Iterator[Broker]:
    """The cluster that records are mirrored from. Whoever stops or kills it must start it again."""
    with Broker(name="source") as broker:
        yield broker


@pytest.fixture(scope="session")
def destination_broker() -> Iterator[Broker]:
    """The cluster that the worker lives on, and mirrors to. Whoever stops or kills it must start it again."""
    with Broker(name="destination") as broker:
        yield broker


_numbers = itertools.count(1)
_session = uuid.uuid4().hex[:6]


@pytest.fixture(scope="session")
def topic_name() -> Callable[[str], str]:
    """Makes a name that nothing else in the session has: `topic_name("orders")` is `orders-3f9a01-7`."""
    return lambda stem="topic": f"{stem}-{_session}-{next(_numbers)}"


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The process's Spark session, the one that workers in this process use as well."""
    from headrace.spark.session import session

    return session()


@pytest.fixture(scope="module")
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Without generated code, for modules with many small plans, each of which would compile its own; undone at their end."""
    before = {key: spark.conf.get(key) for key in INTERPRETED}
    for key, value in INTERPRETED.items():
        spark.conf.set(key, value)
    yield
    for key, value in before.items():
        spark.conf.set(key, str(value))


@pytest.fixture(scope="session")
def worker(destination_broker: Broker) -> Iterator[EmbeddedWorker]:
    """A worker on the destination cluster, in this process."""
    from headrace.testing.worker import EmbeddedWorker

    props = worker_properties("tests", f"http://127.0.0.1:{free_port()}") | {"connector.initial.offsets.enable": "true"}
    with EmbeddedWorker(destination_broker.bootstrap, props) as running:
        yield running


@pytest.fixture(scope="session")
def source(source_broker: Broker) -> Cluster:
    return Cluster(source_broker.bootstrap)


@pytest.fixture(scope="session")
def destination(destination_broker: Broker) -> Cluster:
    return Cluster(destination_broker.bootstrap)


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """For what sets up the log of its process, which is that of the tests here."""
    with log_restored():
        yield


@pytest.fixture
def events() -> Iterator[list[MutableMapping[str, Any]]]:
    """What is logged during the test, as it happens: `{"event": …, "log_level": …, "connector": …, …}`."""
    with captured_logs(_echo) as entries:
        yield entries


@pytest.fixture(scope="session", autouse=True)
def base_directory(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have pytest make the directory of all temporary ones before two threads of a test can ask for it at the same time."""
    tmp_path_factory.getbasetemp()


def _echo(_logger: object, level: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    print(datetime.now().isoformat(timespec="milliseconds"), level, dict(entry))  # where pytest shows it if the test fails
    return entry


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Nobody should take a run for complete that had no browser."""
    if not browser_path():
        terminalreporter.section("NO BROWSER", sep="!", red=True, bold=True)
        terminalreporter.line("The tests of the operator's page were skipped: " + NO_BROWSER)
