"""File names in a locale whose encoding lacks their characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_lite.common.process.file_names import displayed, file_name_of
from kafka_lite.common.properties import dump_properties, load_properties

MAKE_FOLDER = """
import os, sys
from pathlib import Path
from kafka_lite.common.process.file_names import displayed, file_name_of
name = file_name_of(Path(sys.argv[1], "name").read_text(encoding="utf-8"))
os.mkdir(os.path.join(sys.argv[1], name))
sys.stdout.buffer.write(displayed(name).encode())
"""


@pytest.mark.parametrize("utf8_mode", ["0", "1"])
def test_a_name_in_a_utf8_file_means_the_same_folder_in_any_locale(tmp_path: Path, utf8_mode: str) -> None:
    (tmp_path / "name").write_text("数据", encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "POSIX", "PYTHONUTF8": utf8_mode}
    command = [sys.executable, "-c", MAKE_FOLDER, str(tmp_path)]
    shown = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    assert shown.decode() == "数据"
    assert os.path.isdir(os.fsencode(tmp_path) + b"/" + "数据".encode())


def test_encodable_names_are_unchanged() -> None:
    assert file_name_of("/tmp/logs") == displayed("/tmp/logs") == "/tmp/logs"


def test_undecodable_bytes_are_displayed_as_replacement_characters() -> None:
    assert displayed(os.fsdecode(b"/tmp/\xca\xfd")) == "/tmp/\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"


def test_an_undecodable_name_survives_a_properties_file() -> None:
    facts = {"log.dirs": "/tmp/\udcca\udcfd/数据"}
    written = dump_properties(facts)
    assert load_properties(written.encode().decode()) == facts
