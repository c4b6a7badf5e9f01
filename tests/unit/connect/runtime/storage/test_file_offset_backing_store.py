from pathlib import Path

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.storage.file_offset_backing_store import FileOffsetBackingStore
from tests.support.samples import hex_sample

KEY = b'["sa-src",{"filename":"/tmp/h4/run/sa/sa-source.txt"}]'


def test_a_store_continues_the_file_of_a_java_worker(tmp_path: Path) -> None:
    file = tmp_path / "connect.offsets"
    file.write_bytes(hex_sample("connect-offsets-0.10.2.hex"))
    store = FileOffsetBackingStore(file)
    store.start()
    assert store.get([KEY]).result() == {KEY: b'{"position":37}'}

    store.set({KEY: b'{"position":40}', b"other": None}).result()
    store.stop()
    again = FileOffsetBackingStore(str(file))
    again.start()
    assert again.get([KEY]).result() == {KEY: b'{"position":40}'}
    assert [each.name for each in tmp_path.iterdir()] == ["connect.offsets"]


def test_a_missing_and_a_cut_file_have_no_offsets(tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(hex_sample("connect-offsets-0.10.2.hex")[:-3])
    for file in (tmp_path / "missing", cut):
        store = FileOffsetBackingStore(file)
        store.start()
        assert store.get([KEY]).result() == {KEY: None}


def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text("{}" * 100)
    with pytest.raises(ConnectError, match=r"offsets\.json: expected a Java stream"):
        FileOffsetBackingStore(file).start()


def test_offsets_that_cannot_be_written_leave_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "connect.offsets"
    store = FileOffsetBackingStore(file)
    store.start()
    store.set({KEY: b"1"}).result()
    before = file.read_bytes()
    (tmp_path / "connect.offsets.tmp").mkdir()

    with pytest.raises(ConnectError, match="cannot be written"):
        store.set({KEY: b"2"}).result()
    assert file.read_bytes() == before
