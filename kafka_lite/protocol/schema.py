"""The language of message declarations, and the base classes of messages.

A message is a class. Each line is a field, with the versions that have it:

    class OffsetDeleteRequest(Request, api_key=ApiKey.OFFSET_DELETE, versions="0"):
        group_id: str = string()
        topics: list[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic)

Type checkers treat such a class as a dataclass with keyword-only fields that all have defaults. From the same lines the
compilers in this package generate one encoder and one decoder per version, when the version is first used: plain
Python, which ``print(source(OffsetDeleteRequest, 0, "decode"))`` shows.

Kafka 0.10.2: clients/.../common/protocol/types/Schema.java, Struct.java; since 2.4 generated from JSON by
MessageGenerator · book 2.3.5
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final, Literal, Self, TypeVar, cast, dataclass_transform

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.sendable import Buffer, Part
from kafka_lite.protocol import wire_types
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.decoder_compiler import decoder_source
from kafka_lite.protocol.encoder_compiler import LongArrayError, encoder_source, slicing_encoder_source
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from kafka_lite.protocol.source_writer import execute, line_of
from kafka_lite.protocol.versions import NO_VERSIONS, Versions
from kafka_lite.protocol.wire_types import Array, Field, Primitive, RawTaggedField, StructType, WireType

T = TypeVar("T")
Decoder = Callable[..., tuple[Any, int]]
"""Takes the buffer and a position; of a request with arrays, also how many elements they may have."""
Encoder = Callable[[Any, Callable[[Part], None]], None]
SlicingEncoder = Callable[[Any, list[Part]], Iterator[None]]


class _Missing:
    """The default of arguments whose actual default is created for each message."""

    def __repr__(self) -> str:
        return "<new>"


MISSING = _Missing()


@dataclass_transform(kw_only_default=True)
class Struct:
    """The base of everything with fields: messages and their parts.

    ``__init__`` takes every field by keyword, with defaults. Structs compare by their fields.
    """

    FIELDS: ClassVar[tuple[Field, ...]] = ()

    _default: ClassVar[Struct]
    unknown_tagged_fields: tuple[RawTaggedField, ...] = ()
    """Tagged fields that the decoder did not know. Only set on messages that have some."""

    def __init_subclass__(cls) -> None:
        fields = []
        for name, value in list(vars(cls).items()):
            if isinstance(value, Field):
                field = value.named(name)
                fields.append(field)
                if field.has_mutable_default():
                    delattr(cls, name)
                else:
                    # An immutable default is shared through the class, so that decoders need not set it.
                    setattr(cls, name, field.default)
        cls.FIELDS = tuple(fields)

    @classmethod
    def maker(cls, *names: str) -> Callable[..., Self]:
        """A function that creates structs from the values of these fields, in this order. Other fields get defaults.

        It takes half the time of ``__init__``, because positional arguments are cheap. Used for responses that are sent
        often. Defaults that are structs are shared by all that it creates.
        """
        maker: Callable[..., Self] = _compile_maker(cls, names)
        return maker

    @classmethod
    def default(cls) -> Self:
        """The shared struct with all default values, which must not be changed. Encoders recognize it by identity."""
        if "_default" not in vars(cls):
            cls._default = cls()
        return cast(Self, cls._default)

    def __init__(self, **values: Any) -> None:
        """Replaced for each class, on first use, by a compiled one with the fields as arguments."""
        cls = type(self)
        cls.__init__ = _compile_init(cls)  # type: ignore[method-assign]
        cls.__init__(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        same_fields = all(getattr(self, field.name) == getattr(other, field.name) for field in self.FIELDS)
        return same_fields and self.unknown_tagged_fields == other.unknown_tagged_fields

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [f"{field.name}={_shorten(getattr(self, field.name))}" for field in self.FIELDS]
        if self.unknown_tagged_fields:
            shown.append(f"unknown_tagged_fields={self.unknown_tagged_fields}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Message(Struct):
    """A struct with versions, which can be encoded and decoded.

    ``versions`` are those of the codec; ``flexible`` are those with compact lengths and tagged fields.
    """

    VERSIONS: ClassVar[Versions] = NO_VERSIONS
    FLEXIBLE: ClassVar[Versions] = NO_VERSIONS
    MAX_ELEMENTS: ClassVar[int | None] = None
    """How many elements its arrays may have together, nested ones counted, for a decoder; None: as the bytes allow."""
    HAS_RECORDS: ClassVar[bool] = False
    """Whether it contains records, at any depth. All other fields are encoded as bytes."""
    HAS_SLICES: ClassVar[bool] = False
    """Whether it is encoded in slices if it has a long array."""
    _DECODERS: ClassVar[dict[int, Decoder]]
    _ENCODERS: ClassVar[dict[int, Encoder]]
    _SLICING_ENCODERS: ClassVar[dict[int, SlicingEncoder]]
    _kept: dict[int, bytes] | None = None
    """For a message that keeps its encodings: the bytes in each version used so far."""

    def __init_subclass__(cls, versions: str = "none", flexible: str = "none") -> None:
        super().__init_subclass__()
        cls.VERSIONS = Versions.parse(versions)
        cls.FLEXIBLE = Versions.parse(flexible)
        cls.HAS_RECORDS = wire_types.has_records(StructType(cls))
        cls._DECODERS = {}
        cls._ENCODERS = {}
        cls._SLICING_ENCODERS = {}

    @classmethod
    def decode(cls, buffer: Buffer, version: int) -> Self:
        """Read a message from the start of a buffer. Left-over bytes are ignored, as in Kafka.

        Records are returned as memoryviews of the buffer, which must therefore not change while they are in use.
        Strings that are not valid UTF-8 get replacement characters, as in Java. Raises ``SchemaError``.
        """
        return cls.decode_from(buffer, 0, version)[0]

    @classmethod
    def decode_from(
        cls, buffer: Buffer, position: int, version: int, max_elements: int | None = None
    ) -> tuple[Self, int]:
        """Read a message at a position; returns it and the position after it. Raises ``SchemaError``.

        ``max_elements`` replaces ``MAX_ELEMENTS`` of a request that has arrays.
        """
        decoder = cls._DECODERS.get(version) or cls._compile_decoder(version)
        try:
            view = buffer if type(buffer) is memoryview else memoryview(buffer)
            return decoder(view, position) if max_elements is None else decoder(view, position, max_elements)
        except (struct.error, IndexError) as error:
            raise SchemaError(f"{cls.__name__} v{version}: the bytes end too early, {line_of(error)}") from error
        except SchemaError as error:
            raise SchemaError(f"{cls.__name__} v{version}: {error}") from error

    def encode(self, version: int) -> bytes:
        """The bytes of the message, without header or length. Raises ``SchemaError`` if it cannot be encoded."""
        parts: list[Part] = []
        self.encode_to(parts, version)
        return b"".join([part if isinstance(part, Buffer) else part.to_bytes() for part in parts])

    def keep_encoded(self) -> Self:
        """Encode each version only once. For a message without records that is sent often and no longer changes."""
        self._kept = {}
        return self

    def encode_to(self, parts: list[Part], version: int) -> None:
        """Append the bytes of the message to a list, in any number of pieces. Raises ``SchemaError``."""
        first = len(parts)
        try:
            self.encode_short_to(parts, version)
        except LongArrayError:
            del parts[first:]
            for pieces in self.encode_slices(version):
                parts += pieces

    def encode_slices(self, version: int) -> Iterator[list[Part]]:
        """The bytes of the message, some of them at a time. Raises ``SchemaError``."""
        encoder = self._SLICING_ENCODERS.get(version) or self._compile_slicing_encoder(version)
        pieces: list[Part] = []
        try:
            for _ in encoder(self, pieces):
                yield pieces.copy()
                pieces.clear()
        except (struct.error, AttributeError, TypeError, ValueError) as error:
            raise SchemaError(f"{type(self).__name__} v{version}: {error}, {line_of(error)}") from error
        yield pieces

    def encode_short_to(self, parts: list[Part], version: int) -> None:
        """The same as ``encode_to``; but raises ``LongArrayError`` for a response with one, of which parts are left."""
        kept = self._kept
        if kept is not None and version in kept:
            parts.append(kept[version])
            return
        first = len(parts)
        encoder = self._ENCODERS.get(version) or self._compile_encoder(version)
        try:
            encoder(self, parts.append)
        except (struct.error, AttributeError, TypeError, ValueError) as error:
            raise SchemaError(f"{type(self).__name__} v{version}: {error}, {line_of(error)}") from error
        if kept is not None:
            kept[version] = b"".join(parts[first:])  # type: ignore[arg-type]  # without records: bytes only

    @classmethod
    def _compile_decoder(cls, version: int) -> Decoder:
        cls.check_version(version)
        decoder: Decoder = execute(f"{cls.__name__} v{version} decode", "decode", *decoder_source(cls, version))
        return cls._DECODERS.setdefault(version, decoder)

    @classmethod
    def _compile_encoder(cls, version: int) -> Encoder:
        cls.check_version(version)
        compiled = encoder_source(cls, version, refuses_long_arrays=cls.HAS_SLICES)
        encoder: Encoder = execute(f"{cls.__name__} v{version} encode", "encode", *compiled)
        return cls._ENCODERS.setdefault(version, encoder)

    @classmethod
    def _compile_slicing_encoder(cls, version: int) -> SlicingEncoder:
        cls.check_version(version)
        title, compiled = f"{cls.__name__} v{version} encode in slices", slicing_encoder_source(cls, version)
        encoder: SlicingEncoder = execute(title, "encode_slices", *compiled)
        return cls._SLICING_ENCODERS.setdefault(version, encoder)

    @classmethod
    def check_version(cls, version: int) -> None:
        """Raise ``UnsupportedVersionError`` if there is no codec for the version."""
        if version not in cls.VERSIONS:
            raise UnsupportedVersionError(f"{cls.__name__} has versions {cls.VERSIONS}, not {version}")


MAX_ELEMENTS_OF_CLIENTS: Final = 50_000
MAX_ELEMENTS_OF_CONTROLLER: Final = 1_000_000
CONTROLLER_REQUESTS: Final = frozenset({ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA})


class Request(Message):
    """A client's request. ``API_KEY`` determines the API.

    A request of more than ``MAX_ELEMENTS`` is not decoded. Each element becomes an object, so that a frame of a few
    megabytes would otherwise take gigabytes. Clients send a thousandth of it; the controller names all partitions.
    """

    API_KEY: ClassVar[ApiKey]
    MAX_ELEMENTS: ClassVar[int | None] = MAX_ELEMENTS_OF_CLIENTS

    def __init_subclass__(cls, api_key: ApiKey, versions: str, flexible: str = "none") -> None:
        super().__init_subclass__(versions=versions, flexible=flexible)
        cls.API_KEY = api_key
        if api_key in CONTROLLER_REQUESTS:
            cls.MAX_ELEMENTS = MAX_ELEMENTS_OF_CONTROLLER


class Response(Message):
    """The broker's response, always in the version of the request."""

    API_KEY: ClassVar[ApiKey]
    HAS_SLICES: ClassVar[bool] = True

    def __init_subclass__(cls, api_key: ApiKey, versions: str, flexible: str = "none") -> None:
        super().__init_subclass__(versions=versions, flexible=flexible)
        cls.API_KEY = api_key


def source(message: type[Message], version: int, direction: Literal["decode", "encode"]) -> str:
    """The Python source of one version's codec, for the curious and for debugging."""
    message.check_version(version)
    write = decoder_source if direction == "decode" else encoder_source
    return write(message, version)[0]


def _compile_init(cls: type[Struct]) -> Any:
    """An ``__init__`` with a keyword argument for each field. Each message gets lists and structs of its own."""
    arguments = ["self"]
    body = []
    names: dict[str, Any] = {"MISSING": MISSING}
    for field in cls.FIELDS:
        arguments.append(f"{field.name}=default_{field.name}")
        names[f"default_{field.name}"] = MISSING if field.has_mutable_default() else field.default
        value = field.name
        if field.has_mutable_default():
            names[f"new_{field.name}"] = field.new_default
            value = f"new_{field.name}() if {field.name} is MISSING else {field.name}"
        body.append(f"    self.{field.name} = {value}\n")
    if cls.FIELDS:
        arguments.insert(1, "*")
    text = f"def __init__({', '.join(arguments)}):\n{''.join(body) or '    pass'}\n"
    return execute(f"{cls.__name__}.__init__", "__init__", text, names)


def _compile_maker(cls: type[Struct], given: tuple[str, ...]) -> Any:
    """A function with a positional argument for each given field."""
    names: dict[str, Any] = {"new": object.__new__, "cls": cls}
    body = ["    message = new(cls)\n"]
    for field in cls.FIELDS:
        value = field.name
        if value not in given:
            value = f"default_{field.name}"
            names[value] = field.type.cls.default() if isinstance(field.type, StructType) else field.default
            if field.default == []:
                value = "[]"
        # Also the defaults that the class has: encoders read an object's own attributes in a third of the time.
        body.append(f"    message.{field.name} = {value}\n")
    body.append("    message.unknown_tagged_fields = ()\n")
    text = f"def make({', '.join(given)}):\n{''.join(body)}    return message\n"
    return execute(f"{cls.__name__}.maker{given}", "make", text, names)


def _shorten(value: object) -> str:
    """The size of records, or the repr of any other value."""
    if isinstance(value, memoryview):
        return f"<{value.nbytes} bytes>"
    return repr(value)


# --- field types -----------------------------------------------------------------------------------------------------
#
# The right-hand sides of declarations. Each function returns a Field, but is annotated with the type of the field's
# value, so that type checkers accept ``acks: int = int16()`` and reject ``acks: str = int16()``.


def _field(
    kind: WireType,
    versions: str = "0+",
    nullable: str = "none",
    default: Any = None,
    tag: int | None = None,
    ignorable: bool = False,
    flexible: str | None = None,
) -> Any:
    present = Versions.parse(versions)
    return Field(
        type=kind,
        versions=present,
        nullable=Versions.parse(nullable),
        default=default,
        tag=tag,
        tagged=NO_VERSIONS if tag is None else present,
        ignorable=ignorable,
        flexible=None if flexible is None else Versions.parse(flexible),
    )


def boolean(*, versions: str = "0+", default: bool = False, tag: int | None = None, ignorable: bool = False) -> bool:
    """One byte; everything but 0 is true."""
    return cast(bool, _field(wire_types.BOOL, versions, default=default, tag=tag, ignorable=ignorable))


def int8(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    """A number from -128 to 127."""
    return cast(int, _field(wire_types.INT8, versions, default=default, tag=tag, ignorable=ignorable))


def int16(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    """A signed number of two bytes."""
    return cast(int, _field(wire_types.INT16, versions, default=default, tag=tag, ignorable=ignorable))


def int32(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    """A signed number of four bytes."""
    return cast(int, _field(wire_types.INT32, versions, default=default, tag=tag, ignorable=ignorable))


def int64(*, versions: str = "0+", default: int = 0, tag: int | None = None, ignorable: bool = False) -> int:
    """A signed number of eight bytes."""
    return cast(int, _field(wire_types.INT64, versions, default=default, tag=tag, ignorable=ignorable))


def float64(*, versions: str = "0+", default: float = 0.0, tag: int | None = None, ignorable: bool = False) -> float:
    """An IEEE 754 number of eight bytes."""
    return cast(float, _field(wire_types.FLOAT64, versions, default=default, tag=tag, ignorable=ignorable))


def uuid_(*, versions: str = "0+", tag: int | None = None, ignorable: bool = False) -> uuid.UUID:
    """Sixteen bytes; all zero by default."""
    return cast(uuid.UUID, _field(wire_types.UUID, versions, default=ZERO_UUID, tag=tag, ignorable=ignorable))


def string(
    *,
    versions: str = "0+",
    nullable: str = "none",
    default: str | None = "",
    tag: int | None = None,
    ignorable: bool = False,
    flexible: str | None = None,
) -> str:
    """Text; null in the ``nullable`` versions."""
    return cast(str, _field(wire_types.STRING, versions, nullable, default, tag, ignorable, flexible))


def bytes_(
    *, versions: str = "0+", nullable: str = "none", default: bytes | None = b"", ignorable: bool = False
) -> bytes:
    """Opaque bytes; null in the ``nullable`` versions."""
    return cast(bytes, _field(wire_types.BYTES, versions, nullable, default, ignorable=ignorable))


def records_(*, versions: str = "0+", nullable: str = "0+", default: bytes | None = None) -> Any:
    """Message sets or record batches as opaque bytes: decoded as a memoryview of the frame, encoded from any part."""
    return _field(wire_types.RECORDS, versions, nullable, default)


def array(
    element: Callable[..., T],
    *,
    versions: str = "0+",
    nullable: str = "none",
    default: list[T] | None = [],  # noqa: B006  only compared, never returned
    tag: int | None = None,
    ignorable: bool = False,
) -> list[T]:
    """A list of structs (``array(FetchTopic)``) or of simple values (``array(int32)``)."""
    return cast(list[T], _field(Array(_element_type(element)), versions, nullable, default, tag, ignorable))


def nested(cls: type[T], *, versions: str = "0+", tag: int | None = None, ignorable: bool = False) -> T:
    """One struct inside another."""
    return cast(T, _field(StructType(cast(type[Struct], cls)), versions, tag=tag, ignorable=ignorable))


def nullable_struct(
    cls: type[T], *, versions: str = "0+", nullable: str = "0+", tag: int | None = None, ignorable: bool = False
) -> T | None:
    """One struct inside another, or null, which is the default."""
    return cast(T, _field(StructType(cast(type[Struct], cls)), versions, nullable, tag=tag, ignorable=ignorable))


def _element_type(element: Callable[..., object]) -> WireType:
    if isinstance(element, type) and issubclass(element, Struct):
        return StructType(element)
    declared = cast(Field, element())
    assert isinstance(declared.type, Primitive | wire_types.Sized)
    return declared.type
