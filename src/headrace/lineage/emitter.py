"""Sends OpenLineage's events of this worker's connectors and applications, on a background thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from headrace.cluster.herder import Herder
from headrace.connect_config.cluster_names import ClusterNames
from headrace.errors import ConfigError, HeadraceError, SetupError
from headrace.lineage.jobs import JobLineage, application_job, connector_job
from headrace.lineage.runs import JobState, RunEventPlan, Runs, follow
from headrace.lineage.written import WrittenRecords
from headrace.rest.connector_lineage import clusters_of
from headrace.rest.streams_reports import StreamsReports, applications
from headrace.runtime.worker_config import WorkerConfig

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

    from headrace.lineage.events import JobSettings

log = structlog.get_logger(__name__)

_POLL_INTERVAL_S, _STOP_S = 2.0, 10.0


class JobSource(Protocol):
    """The jobs of one kind on this worker."""

    def states(self) -> Iterable[JobState]: ...  # noqa: D102
    def lineage(self, job: str) -> JobLineage: ...  # noqa: D102


class ConnectorJobs:
    """The connectors that run on this worker."""

    def __init__(self, herder: Herder, servers: str) -> None:
        """servers: the bootstrap servers of the workers."""
        self._herder, self._servers = herder, servers
        self._clusters: ClusterNames | None = None
        self._written = WrittenRecords(herder)

    def states(self) -> Iterator[JobState]:
        """The current states of the connectors."""
        self._clusters, names = None, self._herder.connectors()
        self._written.keep(set(names))
        for name in names:
            try:
                status = self._herder.status(name)
            except HeadraceError:  # created a moment ago
                continue
            job, here = JobState.of_connector(status), status["connector"]["worker_id"] == self._herder.worker_id
            self._written.follow(name, status, here and job.is_running)
            if here:
                yield job

    def lineage(self, job: str) -> JobLineage:
        """The datasets of a connector. All configurations are read for it, once for all events of one poll."""
        self._clusters = self._clusters or clusters_of(self._herder, self._servers)
        return connector_job(self._herder, job, self._servers, self._clusters, self._written.count(job))


class ApplicationJobs:
    """The streams applications whose active instance reports to this worker."""

    def __init__(self, reports: StreamsReports) -> None:
        self._reports = reports
        self._applications: dict[str, Mapping[str, Any]] = {}

    def states(self) -> Iterator[JobState]:
        """The current states of the applications."""
        for application in applications(self._reports.instances()):
            self._applications[application["application"]] = application
            if state := JobState.of_application(application):
                yield state

    def lineage(self, job: str) -> JobLineage:
        """The datasets of an application, by its last report."""
        return application_job(self._applications[job])


class LineageEmitter:
    """Polls the states of the jobs every two seconds, and sends events about changes."""

    def __init__(self, sources: Sequence[JobSource], settings: JobSettings, client: OpenLineageClient) -> None:
        """client: with the transport for the events."""
        self._sources, self._settings, self._client = sources, settings, client
        self._runs: list[Runs] = [{} for _ in sources]
        self._failing = set[str]()
        """The steps whose last attempt failed."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="openlineage", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the runs of this worker's jobs: a worker that takes over a job starts a new run."""
        self._stopping.set()
        self._thread.join(_STOP_S)

    def _main(self) -> None:
        from openlineage.client.uuid import generate_new_uuid

        while True:
            ended = self._stopping.wait(_POLL_INTERVAL_S)
            for n, source in enumerate(self._sources):
                try:
                    states = () if ended else source.states()
                    events, self._runs[n] = follow(self._runs[n], states, time.monotonic(), lambda: str(generate_new_uuid()))
                except Exception as error:  # a bug of ours, or states that are half written: the next poll may succeed
                    self._warn_once(f"poll-{n}", "openlineage.not-polled", error, "events of its jobs are sent at a later poll")
                    continue
                self._failing.discard(f"poll-{n}")
                for plan in events:
                    self._send(plan, source)
            if ended:
                return

    def _send(self, plan: RunEventPlan, source: JobSource) -> None:
        from headrace.lineage.events import event

        try:
            self._client.emit(event(plan, source.lineage(plan.job), self._settings))
            self._failing.discard("send")
        except Exception as error:  # transports raise any class
            self._warn_once("send", "openlineage.not-sent", error, "the event is lost; connectors continue")

    def _warn_once(self, step: str, event: str, error: Exception, meaning: str) -> None:
        """Log the first failure of a step, not each until it succeeds again."""
        if step not in self._failing:
            log.warning(event, cause=str(error) or type(error).__name__, meaning=meaning, exc_info=error)
        self._failing.add(step)


def lineage_emitter(herder: Herder, config: WorkerConfig, reports: StreamsReports) -> LineageEmitter | None:
    """The emitter of a worker, None if its configuration does not enable it. Raises SetupError, ConfigError.

    reports: of the streams applications that report to this worker.
    """
    if (read := lineage_client(config)) is None:
        return None
    settings, client = read
    jobs = (ConnectorJobs(herder, ",".join(config.bootstrap_servers)), ApplicationJobs(reports))
    return LineageEmitter(jobs, settings, client)


def lineage_client(config: WorkerConfig) -> tuple[JobSettings, OpenLineageClient] | None:
    """What a worker's configuration says of its jobs and where events go, None if it does not enable them.

    Raises SetupError, ConfigError.
    """
    if not config.openlineage_enabled:
        return None
    try:
        from openlineage.client import OpenLineageClient

        from headrace.lineage.events import JobSettings
    except ImportError:
        raise SetupError(
            "openlineage.integration.enabled=true needs the extra `lineage`: pip install 'headrace[lineage]'."
        ) from None
    namespace = config.openlineage_namespace or config.worker_group or "headrace"
    owners = _pairs("openlineage.integration.job.owners", config.openlineage_owners, "role=name")
    tags = _pairs("openlineage.integration.job.tags", config.openlineage_tags, "key=value")
    settings = JobSettings(namespace, config.openlineage_description, owners, tags)
    try:
        client = OpenLineageClient(config=_settings(config.openlineage_file))
    except Exception as error:
        raise ConfigError(f"openlineage.integration.config.file.path: the client cannot be made: {error}") from error
    return settings, client


def _pairs(option: str, texts: Sequence[str], form: str) -> Sequence[tuple[str, str]]:
    """The pairs in texts like `key=value`. form: for the message. Raises ConfigError for the option."""
    pairs = [(left.strip(), right.strip()) for left, _, right in (text.partition("=") for text in texts)]
    if malformed := [text for text, pair in zip(texts, pairs, strict=True) if not all(pair)]:
        raise ConfigError.invalid(option, malformed[0], f"it has to be of the form {form}")
    return pairs


def _settings(path: str | None) -> dict[str, Any] | None:
    """The client's settings; None: it uses OPENLINEAGE_CONFIG and OPENLINEAGE_URL."""
    if not path:
        return None
    import yaml

    return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
