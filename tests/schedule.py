"""Which process of `make test` gets which file next."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class ByDirectory(LoadFileScheduling):
    """Whole files, and a process stays in its directory while files are left there.

    So brokers and workers that the tests of a directory share are started once, not once in each process. The processes are
    in different directories, as far as there are enough: side by side all would wait at once, or compile at once.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        if file := self._next(node):
            self.workqueue.move_to_end(file, last=False)
        super()._assign_work_unit(node)

    def _next(self, node: WorkerController) -> str | None:
        own = self._directory_of(node)
        taken = {self._directory_of(other) for other in self.nodes if other is not node}
        waiting = {file: _directory(file) for file in self.workqueue}
        same = (file for file, directory in waiting.items() if directory == own)
        free = (file for file, directory in waiting.items() if directory not in taken)
        return next(same, None) or next(free, None)

    def _directory_of(self, node: WorkerController) -> str | None:
        files = self.assigned_work[node]
        return _directory(next(reversed(files))) if files else None


def _directory(file: str) -> str:
    return file.rpartition("/")[0]
