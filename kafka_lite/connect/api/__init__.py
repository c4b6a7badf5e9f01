"""The classes that connectors, converters and transformations are written with.

A connector extends :class:`SourceConnector` or :class:`SinkConnector`, and its tasks extend :class:`SourceTask` or
:class:`SinkTask`. Data has a :class:`Schema`, made by a :class:`SchemaBuilder`; a :class:`Struct` holds a record of it.
``Type`` is that of a schema (Kafka: Schema.Type), ``ConfigType`` that of a configuration key (ConfigDef.Type).

Kafka 0.10.2: connect/api · book 8.3.2
"""

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Range, ValidString
from kafka_lite.common.config_def import Type as ConfigType
from kafka_lite.common.config_value import ConfigValue, Recommender, Width
from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.connector import Connector, ConnectorContext
from kafka_lite.connect.api.connector_utils import ConnectorUtils
from kafka_lite.connect.api.converter import Converter, HeaderConverter
from kafka_lite.connect.api.data.logical_types import Date, Decimal, Time, Timestamp
from kafka_lite.connect.api.data.schema import Field, Schema, Type
from kafka_lite.connect.api.data.schema_and_value import SchemaAndValue
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.schema_projector import SchemaProjector
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError, DataError, RetriableError
from kafka_lite.connect.api.headers import Header, Headers
from kafka_lite.connect.api.offset_storage_reader import OffsetStorageReader
from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import ErrantRecordReporter, SinkTask, SinkTaskContext
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask, SourceTaskContext
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.api.transformation import Predicate, Transformation

__all__ = [
    "NO_DEFAULT",
    "ConfigDef",
    "ConfigType",
    "ConfigValue",
    "ConnectError",
    "ConnectRecord",
    "Connector",
    "ConnectorContext",
    "ConnectorUtils",
    "Converter",
    "DataError",
    "Date",
    "Decimal",
    "ErrantRecordReporter",
    "Field",
    "Header",
    "HeaderConverter",
    "Headers",
    "Importance",
    "OffsetStorageReader",
    "Predicate",
    "Range",
    "Recommender",
    "RetriableError",
    "Schema",
    "SchemaAndValue",
    "SchemaBuilder",
    "SchemaProjector",
    "SinkConnector",
    "SinkRecord",
    "SinkTask",
    "SinkTaskContext",
    "SourceConnector",
    "SourceRecord",
    "SourceTask",
    "SourceTaskContext",
    "Struct",
    "Task",
    "Time",
    "Timestamp",
    "Transformation",
    "Type",
    "ValidString",
    "Width",
]
