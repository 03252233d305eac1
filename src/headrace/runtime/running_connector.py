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
    config: Resolved
    settings: ConnectorSettings

    def task_configs(self) -> list[dict[str, str]]:
        """The task configurations, with `task.class` as Kafka Connect stores it.

        Values of config providers are placeholders again, as they are stored and shown.
        Raises TooManyTasksError (KIP-1004) if there are more than `tasks.max` and `tasks.max.enforce` is not off.
        """
        maximum = self.settings.tasks_max
        configs: list[dict[str, Any]] = self.instance.task_configs(maximum)
        if len(configs) > maximum:
            text = (
                f"The connector {self.settings.name} has generated {len(configs)} tasks, which is greater than {maximum}, "
                "the maximum number of tasks it is configured to create. "
            )
            if self.settings.tasks_max_enforce:
                raise TooManyTasksError(
                    text + "This behaviour should be considered a bug and is disallowed. If necessary, it can be permitted by "
                    "reconfiguring the connector with 'tasks.max.enforce' set to false; however, this option will be removed in "
                    "a future release of Kafka Connect."
                )
            log.warning("connector.too-many-tasks", made=len(configs), maximum=maximum)
        return [{**self.config.restore(props), "task.class": self.task_class} for props in configs]
