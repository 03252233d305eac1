"""The newest versions of subjects, which are asked for again once they were known for some time."""

from __future__ import annotations

import math
import time

import structlog

from headrace.registry.client import RegisteredSchema, Registry
from headrace.registry.errors import RegistryError, RegistryUnavailableError

log = structlog.get_logger(__name__)


class NewestVersions:
    """Those that one converter writes with; keep_s: for how long an answer of the registry holds, infinite: for ever."""

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._known: dict[str, RegisteredSchema] = {}
        self.renew_at = math.inf
        """When they are to be asked for again, by time.monotonic; infinite: never, or none was asked for."""

    def of(self, registry: Registry, subject: str) -> RegisteredSchema:
        """The newest version of a subject; raises what `Registry.latest` does."""
        if subject not in self._known:
            self.renew_at = min(self.renew_at, time.monotonic() + self._keep_s)
            self._known[subject] = registry.latest(subject)
        return self._known[subject]

    def renew(self, registry: Registry) -> bool:
        """Ask for them again; returns whether one is another now, or gone.

        If the registry does not answer, they stay as they are. Raises RegistryError if it refuses the login.
        """
        self.renew_at = time.monotonic() + self._keep_s
        known: dict[str, RegisteredSchema] = {}
        for subject in self._known:
            try:
                known[subject] = registry.latest(subject)
            except RegistryUnavailableError as error:
                log.warning("schema-registry.newest.kept", subject=subject, cause=str(error))
                return False
            except RegistryError as error:
                if error.refuses_login:
                    raise
        changed = known != self._known
        self._known = known
        return changed
