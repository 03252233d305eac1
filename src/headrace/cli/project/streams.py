"""The streams applications of a project: their internal topics, created before the first start (KIP-698), all or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headrace.cli.connectors.texts import plain
from headrace.cli.project.folder import Application
from headrace.cli.streams.application import load_with
from headrace.config.diff import Action, ChangedSetting, Diff
from headrace.errors import HeadraceError, InternalTopicsAlreadySetupError
from headrace.streams import KafkaStreams
from headrace.streams.initialization import InitParameters, InternalTopicsDescription, topics_to_create
from headrace.streams.internal_topics import InternalTopic


class ApplicationChanges:
    """What initializes the applications that are not; none is started, reset or completed."""

    def __init__(self, applications: Mapping[str, KafkaStreams], planned: Mapping[str, int]) -> None:
        """Look at their internal topics; planned: numbers of partitions of source topics that there will be."""
        self._applications = applications
        self.problems: list[str] = []
        self.diffs: list[Diff] = []
        for name, streams in applications.items():
            try:
                self.diffs.append(_diff(name, streams.describe_internal_topics(planned)))
            except HeadraceError as error:
                self.problems.append(f"applications.{name}: {error.message}")

    def carry_out(self, diff: Diff) -> None:
        """Create the internal topics of an application. Raises as `KafkaStreams.init`."""
        self._applications[diff.name].init()

    def sentence(self, diff: Diff) -> str:
        """That it has been done."""
        return f"Application {plain(diff.name)} has been initialized."


def streams_of(applications: Sequence[Application], client: Mapping[str, str]) -> dict[str, KafkaStreams]:
    """The applications by name, none of them started; client: settings of the cluster, which win over the application's.

    Raises what is wrong with one of them.
    """
    return {a.name: KafkaStreams(*load_with(a.app, a.settings, client)) for a in applications}


def _diff(name: str, findings: InternalTopicsDescription) -> Diff:
    """Raises MissingInternalTopicsError, MisconfiguredInternalTopicError for what `init` refuses."""
    try:
        missing: Sequence[InternalTopic] = topics_to_create(findings, InitParameters())
    except InternalTopicsAlreadySetupError:
        missing = ()
    topics = tuple(ChangedSetting(topic.name, None, f"{topic.kind}, partitions: {topic.partitions}") for topic in missing)
    return Diff(name, Action.CREATE if topics else Action.KEEP, topics, len(findings.topics) - len(topics))
