"""ArrowTransform: the base of transforms that users write in Python for batches of values, as Arrow arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headrace.errors import ConfigError
from headrace.sql_functions import F
from headrace.transforms.base import Transformation
from headrace.transforms.column_transform import UserTransform
from headrace.values import results
from headrace.values.columns import json_text
from headrace.values.sql import lit

if TYPE_CHECKING:
    import pyarrow as pa

    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.record import ConnectRecord


class ArrowTransform(UserTransform):
    """A user's transform in Python code that runs for every batch: `transforms.<alias>.type=my_module.MyTransform`.

    This is slower than all other transforms: every value is written as JSON text, moved from the JVM to a Python process and
    back through Arrow, and parsed again. Use it for what Spark's functions cannot do (a Python library, say), and
    `ColumnTransform` or `headrace.transforms.Sql` for everything else.

        class Redacted(ArrowTransform):
            def apply(self, values: pa.Array) -> pa.Array:
                return pa.array([None if v is None else redact(v) for v in values.to_pylist()], pa.string())
    """

    target: ClassVar[Literal["key", "value"]] = "value"
    """The part that is transformed."""

    @abstractmethod
    def apply(self, values: pa.Array) -> pa.Array:
        """Return the new values for a batch, as many as were given; both are arrays of JSON texts (string), null for null.

        Runs in Python processes of the executors: the object is pickled, its module has to be importable there. If it raises,
        it is called again for each single record, and the records for which it raises again fail. The result has no schema.
        """

    def stage(self, prefix: str) -> Transformation:
        """The transformation that a chain applies."""
        return ArrowTransformation(self, prefix)


class ArrowTransformation(Transformation):
    """The transformation of a chain that calls an ArrowTransform."""

    def __init__(self, user: ArrowTransform, prefix: str) -> None:
        super().__init__({}, prefix)
        self.user = user
        self.routes = "no"

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The part comes from itself."""
        return record.opaque((self.user.target,), (self.user.target,))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Transform the part by the user's `apply`, in Python processes of the executors."""
        if find_spec("pyarrow") is None:
            raise ConfigError(f"{type(self.user).__qualname__} needs the package pyarrow: pip install 'headrace[arrow]'")
        context, target, name = record.context, self.user.target, type(self.user).__qualname__
        udf: Any = F.arrow_udf(_batches(self.user.apply), "text string, error string")  # type: ignore[call-overload]
        text = json_text(context, getattr(record, target))
        place = context.scope.bind_named({target: text}, {"udf": udf(F.col(target))})["udf"]
        context.fail(f"({place}.error IS NOT NULL)", lit(f"{name} failed"), cause=f"{place}.error")
        return replace(record, **{target: results.json(context, f"{place}.text")})


def _batches(apply: Callable[[pa.Array], pa.Array]) -> Callable[[pa.Array], pa.Array]:
    """A function for Spark's `arrow_udf`: for each value the text that `apply` returns, or the error."""

    def transform_batch(values):  # type: ignore[no-untyped-def]  # Spark would take annotations for types of its own
        import pyarrow as pa

        def run_batch(batch: pa.Array) -> tuple[list[str | None], list[str | None]]:
            result = apply(batch)
            if not isinstance(result, (pa.Array, pa.ChunkedArray)) or len(result) != len(batch):
                raise TypeError("apply has to return an array of as many values as it was given")
            return result.cast(pa.string()).to_pylist(), [None] * len(batch)

        def run_record(batch: pa.Array) -> tuple[list[str | None], list[str | None]]:
            try:
                return run_batch(batch)
            except Exception as error:  # whatever the user's code raises is the fault of this record
                return [None], [f"{type(error).__name__}: {error}"]

        try:
            texts, errors = run_batch(values)
        except Exception:  # each record is tried alone, to find those that fail
            tried = [run_record(values.slice(i, 1)) for i in range(len(values))]
            texts, errors = [t[0] for t, _ in tried], [e[0] for _, e in tried]
        return pa.StructArray.from_arrays([pa.array(texts, pa.string()), pa.array(errors, pa.string())], ["text", "error"])

    return transform_batch
