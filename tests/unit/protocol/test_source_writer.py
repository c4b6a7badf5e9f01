"""Lines of Python, and what they become."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.source_writer import SourceWriter, execute, line_of, variable_name


def written() -> SourceWriter:
    writer = SourceWriter()
    with writer.block("def decode(data):"):
        writer.line(f"a, b = {writer.unpacker('?h')}(data)")
        with writer.block("if a:"):
            writer.line("return b")
        with writer.block("else:"):
            pass
        writer.line(f"return {writer.packer('h')}(b)")
    return writer


def test_blocks_are_indented_and_never_empty() -> None:
    assert written().text().splitlines() == [
        "def decode(data):",
        "    a, b = unpack_th(data)",
        "    if a:",
        "        return b",
        "    else:",
        "        pass",
        "    return pack_h(b)",
    ]


def test_what_is_written_can_be_called() -> None:
    writer = written()
    decode = execute("test", "decode", writer.text(), writer.names)
    assert decode(b"\1\0\7") == 7
    assert decode(b"\0\0\7") == b"\0\7"


@pytest.mark.parametrize("name", ["decode", "encode", "encode_slices"])
def test_an_error_shows_the_generated_line(name: str) -> None:
    function = execute(f"a failing {name}", name, f"def {name}(data):\n    return data.missing\n", {})
    with pytest.raises(AttributeError) as caught:
        function(1)
    assert line_of(caught.value) == "at: return data.missing"


def test_names_of_variables() -> None:
    assert variable_name(HeartbeatRequest) == "heartbeat_request"
