"""A connector that has been started, and the configurations of its tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import structlog

from headrace.config.providers import Resolved
from headrace.connect_config.settings import ConnectorSettings
from headrace.connectors.base import Connector
from headrace.errors import TooManyTasksError

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class RunningConnector:
    """A started connector instance, with its version, task class and configuration, as resolved and as parsed."""

    instance: Connector
    version: str
    task_class: str
    """The class of its tasks, as the connector names it."""
    config: Resolved
    """As resolved: with the values of config providers."""
    settings: ConnectorSettings

    def task_configs(self) -> list[dict[str, str]]:
        """The task configurations, with `task.class` as Kafka Connect stores it.

        Values of config providers are placeholders again, as they are stored and shown.
        Raises TooManyTasksError as `check_tasks_max` does.
        """
        configs: list[dict[str, Any]] = self.instance.task_configs(self.settings.tasks_max)
        check_tasks_max(self.settings, len(configs))
        return [{**self.config.restore(props), "task.class": self.task_class} for props in configs]


def check_tasks_max(settings: ConnectorSettings, count: int) -> None:
    """Raise TooManyTasksError (KIP-1004) if a connector has more tasks than `tasks.max`; warn if `tasks.max.enforce` is off."""
    maximum = settings.tasks_max
    if count <= maximum:
        return
    text = (
        f"The connector {settings.name} has generated {count} tasks, which is greater than {maximum}, "
        "the maximum number of tasks it is configured to create. "
    )
    if settings.tasks_max_enforce:
        raise TooManyTasksError(
            text + "This behaviour should be considered a bug and is disallowed. If necessary, it can be permitted by "
            "reconfiguring the connector with 'tasks.max.enforce' set to false; however, this option will be removed in "
            "a future release of Kafka Connect."
        )
    log.warning("connector.too-many-tasks", made=count, maximum=maximum)
