"""Finds the classes that configurations name: connectors, tasks, converters, transformations.

Kafka 0.10.2: connect/runtime/.../connect/runtime/PluginDiscovery.java, ConnectorFactory.java · book 8.3.5
"""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
from functools import cache
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path
from typing import Any

from kafka_lite.connect.api.connector import Connector
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.java_names import JAVA_NAMES, java_name

logger = logging.getLogger(__name__)

ENTRY_POINTS = "kafka_lite.connectors"
"""The group in which a package declares its connectors."""
_FILE, _JAVA_FILE = "kafka_lite.connect.file", "org.apache.kafka.connect.file"
_PARQUET, _SQL = "kafka_lite.connect.parquet", "kafka_lite.connect.sql"
_VERIFIABLE, _JAVA_TOOLS = "kafka_lite.connect.verifiable", "org.apache.kafka.connect.tools"
_MIRROR = {
    kind: f"kafka_lite.mirror.connectors.{kind.lower()}.mirror_{kind.lower()}_connector.Mirror{kind}Connector"
    for kind in ("Checkpoint", "Heartbeat", "Source")
}
_OWN = (
    *_MIRROR.values(),
    f"{_PARQUET}.parquet_sink_connector.ParquetSinkConnector",
    f"{_SQL}.sql_sink_connector.SqlSinkConnector",
    f"{_SQL}.sql_source_connector.SqlSourceConnector",
)
CONNECTORS: dict[str, str] = {
    f"{_JAVA_FILE}.FileStreamSinkConnector": f"{_FILE}.file_stream_sink_connector.FileStreamSinkConnector",
    f"{_JAVA_FILE}.FileStreamSourceConnector": f"{_FILE}.file_stream_source_connector.FileStreamSourceConnector",
    f"{_JAVA_TOOLS}.VerifiableSinkConnector": f"{_VERIFIABLE}.verifiable_sink_connector.VerifiableSinkConnector",
    f"{_JAVA_TOOLS}.VerifiableSourceConnector": f"{_VERIFIABLE}.verifiable_source_connector.VerifiableSourceConnector",
    **{name: name for name in _OWN},
}
"""Java's full name, or ours where Kafka has no such connector -> the class here."""
TASKS: dict[str, str] = {
    f"{_JAVA_FILE}.FileStreamSinkTask": f"{_FILE}.file_stream_sink_task.FileStreamSinkTask",
    f"{_JAVA_FILE}.FileStreamSourceTask": f"{_FILE}.file_stream_source_task.FileStreamSourceTask",
    f"{_JAVA_TOOLS}.VerifiableSinkTask": f"{_VERIFIABLE}.verifiable_sink_task.VerifiableSinkTask",
    f"{_JAVA_TOOLS}.VerifiableSourceTask": f"{_VERIFIABLE}.verifiable_source_task.VerifiableSourceTask",
}
"""The same of tasks."""
OTHER_NAMES: dict[str, str] = {
    **{
        f"{package}.Jdbc{kind}Connector": f"{_SQL}.sql_{kind.lower()}_connector.Sql{kind}Connector"
        for package in ("io.aiven.connect.jdbc", "io.confluent.connect.jdbc")
        for kind in ("Sink", "Source")
    },
    **{f"org.apache.kafka.connect.mirror.Mirror{kind}Connector": path for kind, path in _MIRROR.items()},
}
"""Connectors of others, and of Kafka since 2.4, whose configurations ours understand -> the class here."""
_PATHS = CONNECTORS | TASKS | OTHER_NAMES


def add_plugin_path(folders: str) -> None:
    """Let modules and packages in these folders, separated by commas, be found after all that Python has by itself.

    Kafka: the worker's ``plugin.path``, since 0.11. There each folder has class loaders of its own; here a module that
    two folders have is that of the first.
    """
    for folder in filter(None, map(str.strip, folders.split(","))):
        path = Path(folder).resolve()
        if not path.is_dir():
            logger.error("Could not get listing for plugin path: %s. Ignoring.", folder)
        elif str(path) not in sys.path:
            sys.path.append(str(path))
            known_connectors.cache_clear()


def load_class(name: str) -> type[Any]:
    """The class of a name: ``package.module.Class``, or Java's name of a class that is here, too.

    Raises ConnectError if there is none.
    """
    path = _PATHS.get(name) or JAVA_NAMES.get(java_name(name) or "") or name
    module, _, attribute = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module may raise anything while it is imported
        raise ConnectError(f"Class {name} not found: {error!r}") from error
    if not isinstance(found, type):
        raise ConnectError(f"{name} is not a class")
    return found


def class_name(of: type[Any]) -> str:
    """The name by which any worker finds a connector or task: Java's if it has one."""
    path = f"{of.__module__}.{of.__qualname__}"
    return next((java for java, ours in chain(CONNECTORS.items(), TASKS.items()) if ours == path), path)


@cache
def known_connectors() -> dict[str, type[Connector]]:
    """The connectors of kafka_lite and of installed packages, by class name."""
    found: dict[str, type[Connector]] = {name: load_class(name) for name in CONNECTORS}
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            connector = entry.load()
        except Exception:
            logger.exception("The connector %s = %s cannot be loaded", entry.name, entry.value)
            continue
        if inspect.isclass(connector) and issubclass(connector, Connector):
            found[class_name(connector)] = connector
        else:
            logger.error("The entry point %s = %s is not a Connector", entry.name, entry.value)
    return dict(sorted(found.items()))


def listed_connectors() -> list[str]:
    """The connectors that users choose from: all but those for tests of the runtime."""
    return [name for name in known_connectors() if not name.startswith(f"{_JAVA_TOOLS}.")]


def connector_class(class_or_alias: str) -> type[Connector]:
    """The connector of a full name, a simple name, or a simple name without ``Connector``. Raises ConnectError."""
    if "." in class_or_alias:
        try:
            found = load_class(class_or_alias)
        except ConnectError:
            logger.info("No class %s", class_or_alias, exc_info=True)
        else:
            if not issubclass(found, Connector):
                raise ConnectError(f"Class {class_or_alias} does not implement Connector")
            return found
    connectors = known_connectors()
    wanted = {class_or_alias, f"{class_or_alias}Connector"}
    names = [name for name, connector in connectors.items() if connector.__name__ in wanted]
    if not names:
        raise ConnectError(
            "Failed to find any class that implements Connector and which name matches "
            f"{class_or_alias}, available connectors are: {', '.join(connectors)}"
        )
    if len(names) > 1:
        raise ConnectError(
            f"More than one connector matches alias {class_or_alias}. Please use full package and class name instead. "
            f"Classes found: {', '.join(names)}"
        )
    return connectors[names[0]]


def new_connector(class_or_alias: str) -> Connector:
    """A new connector. Raises ConnectError."""
    found: Connector = new_plugin(connector_class(class_or_alias), Connector)
    return found


def new_task(name: str) -> Task:
    """A new task of a class. Raises ConnectError."""
    found: Task = new_plugin(load_class(name), Task)
    return found


def new_plugin(plugin: type[Any], kind: type[Any]) -> Any:
    """A new object of a plug-in's class. Raises ConnectError if it is not of the kind, or cannot be created."""
    if not issubclass(plugin, kind):
        raise ConnectError(f"Class {class_name(plugin)} is not a {kind.__name__}")
    try:
        return plugin()
    except Exception as error:
        raise ConnectError(f"Instantiation error of {class_name(plugin)}: {error!r}") from error
