"""The data sources that a session has, by the names that `format` takes."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.errors import ConfigError, HeadraceError, RetriableError
from headrace.spark import failure
from headrace.spark.optional_jars import EXTRAS, FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNAVAILABLE = re.compile(
    r"java\.net\.(ConnectException|SocketException|SocketTimeoutException|UnknownHostException|NoRouteToHostException)"
    r"|SQLTransient\w*Exception|SQLRecoverableException|SQLNonTransientConnectionException"
    r"|Connection to \S+ refused|terminating connection due to|the database system is (starting up|shutting down)"
)


def option(options: Mapping[str, str], name: str) -> str | None:
    """The value of an option of a data source, None if it is not there. name: in small letters; Spark takes it in any case."""
    return next((value for option_name, value in options.items() if option_name.lower() == name), None)


def available_formats(spark: SparkSession) -> list[str]:
    """The short names of the data sources in the session's jars, in alphabetical order."""
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    register = jvm.java.lang.Class.forName("org.apache.spark.sql.sources.DataSourceRegister", True, loader)
    names = {provider.shortName() for provider in _to_list(jvm.java.util.ServiceLoader.load(register, loader).iterator())}
    return sorted(name for name in names if not name.startswith("__"))


def _to_list(iterator: Any) -> list[Any]:
    names = []
    while iterator.hasNext():
        names.append(iterator.next())
    return names


def resolved(spark: SparkSession, name: str) -> str:
    """Spark's name of a format; a Python class, given by its dotted name, is registered first.

    Raises ConfigError, which lists the available formats, if the session does not have it.
    """
    cls = python_class(name)
    if cls is not None:
        spark.dataSource.register(cls)
        return cls.name()
    if not exists(spark, name):
        raise unknown(name, available_formats(spark))
    return name


def missing(name: str) -> str | None:
    """The error sentence if the running session does not have this format; None if it has, or without a session."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession() or SparkSession._instantiatedSession  # pyright: ignore
    try:
        if spark is None or python_class(name) is not None or exists(spark, name):
            return None
    except ConfigError as error:
        return str(error)
    return str(unknown(name, available_formats(spark)))


def exists(spark: SparkSession, name: str) -> bool:
    """Whether the session has this data source, or can load the class of this name."""
    jvm: Any = spark._jvm
    session: Any = spark._jsparkSession
    lookup, state = jvm.org.apache.spark.sql.execution.datasources.DataSource, session.sessionState()
    try:
        lookup.lookupDataSource(name, state.conf())
    except Exception:  # missing, or broken: its use reports the error
        return state.dataSourceManager().dataSourceExists(name)  # data sources in Python, which a process searches
    return True


def python_class(name: str) -> type[Any] | None:
    """The PySpark `DataSource` class of this dotted name, None if there is none; imports its module."""
    from pyspark.sql.datasource import DataSource

    module, _, attribute = name.rpartition(".")
    if not module or not all(part.isidentifier() for part in name.split(".")):
        return None
    try:
        cls = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is not None and (module + ".").startswith(error.name + "."):
            return None
        raise ConfigError.invalid("format", name, f"Its module cannot be imported: {error}") from error
    return cls if isinstance(cls, type) and issubclass(cls, DataSource) else None


def unknown(name: str, names: list[str]) -> ConfigError:
    """The error for a format that the session does not have."""
    if name in EXTRAS:
        return ConfigError.invalid("format", name, f"Its jars are not in this session: add {name} to {FORMATS} of the worker")
    have = f"The session has no such data source; it has {', '.join(names)}, and takes the dotted name of a Python class"
    return ConfigError.invalid("format", name, have)


def as_error(error: Exception, context: str) -> HeadraceError:
    """The error of a data source, prefixed with `context`; a RetriableError if a server is unavailable."""
    wrapped = failure.as_error(error, context)
    if any(_UNAVAILABLE.search(f"{cause.java_class}: {cause.message}") for cause in failure.causes(error)):
        retriable = RetriableError(str(wrapped))
        retriable.__cause__ = wrapped.__cause__
        return retriable
    return wrapped
