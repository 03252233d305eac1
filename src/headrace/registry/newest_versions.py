"""Cache of the newest versions of subjects, which expire after some time."""

from __future__ import annotations

import math
import time

import structlog

from headrace.registry.client import RegisteredSchema, Registry
from headrace.registry.errors import RegistryError, RegistryUnavailableError

log = structlog.get_logger(__name__)


class NewestVersions:
    """The newest versions that one converter writes with. keep_s: how long a response is cached, infinite: never expires."""

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._versions: dict[str, RegisteredSchema] = {}
        self.renew_at = math.inf
        """When they expire, by time.monotonic; infinite: never, or nothing is cached."""

    def get(self, registry: Registry, subject: str) -> RegisteredSchema:
        """The newest version of a subject; raises what `Registry.latest` does."""
        if subject not in self._versions:
            self.renew_at = min(self.renew_at, time.monotonic() + self._keep_s)
            self._versions[subject] = registry.latest(subject)
        return self._versions[subject]

    def renew(self, registry: Registry) -> bool:
        """Fetch them again; returns whether one has changed or has been deleted.

        If the registry does not answer, the cached versions are kept. Raises RegistryError if it refuses the login,
        InvalidResponseError if what answers is no registry.
        """
        self.renew_at = time.monotonic() + self._keep_s
        latest: dict[str, RegisteredSchema] = {}
        for subject in self._versions:
            try:
                latest[subject] = registry.latest(subject)
            except RegistryUnavailableError as error:
                log.warning("schema-registry.newest.kept", subject=subject, cause=str(error))
                return False
            except RegistryError as error:
                if error.refuses_login:
                    raise
        changed = latest != self._versions
        self._versions = latest
        return changed
