import pytest

from kafka_lite.common.properties import PropertiesError, dump_properties, load_properties


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a=b", {"a": "b"}),
        ("  a : b c ", {"a": "b c "}),
        ("a b", {"a": "b"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("# comment\n! another\n\n a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1,\\\n   2,\\\n   3\nb=x", {"a": "1,2,3", "b": "x"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=one\\\n#two", {"a": "one#two"}),
        ("a=\\t\\u4e2d\\q", {"a": "\t中q"}),
        ("a\\=b\\ c=d", {"a=b c": "d"}),
        ("a=1\na=2", {"a": "2"}),
        ("listeners=PLAINTEXT://127.0.0.1:9092", {"listeners": "PLAINTEXT://127.0.0.1:9092"}),
        ("a = = b", {"a": "= b"}),
        ("a=end\\", {"a": "end"}),
    ],
)
def test_java_syntax_is_parsed(text, entries):
    assert load_properties(text) == entries


def test_a_file_is_read(tmp_path):
    path = tmp_path / "server.properties"
    path.write_text("log.dirs=/tmp/日志\n", encoding="utf-8")
    assert load_properties(path) == {"log.dirs": "/tmp/日志"}
    path.write_bytes(b"a=\xff")
    with pytest.raises(PropertiesError, match="UTF-8"):
        load_properties(path)
    with pytest.raises(FileNotFoundError):
        load_properties(tmp_path / "none")


@pytest.mark.parametrize("text", ["a=\\u12", "a=\\uzzzz"])
def test_a_malformed_escape_is_rejected(text):
    with pytest.raises(PropertiesError, match="hexadecimal"):
        load_properties(text)


def test_written_properties_are_read_back():
    entries = {"a b": " x = y ", "k:": "tab\there\nline", "#c": "\\path", "cluster.id": "bD0Yiy1wRTa4pzpWP2SG7g"}
    text = dump_properties(entries, ("", "a comment"))
    assert text.startswith("#\n#a comment\n")
    assert load_properties(text) == entries


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path):
    """Notepad begins a UTF-8 file with one."""
    file = tmp_path / "server.properties"
    file.write_bytes(b"\xef\xbb\xbfbroker.id=1\r\nlog.dirs=/d\r\n")
    assert load_properties(file) == {"broker.id": "1", "log.dirs": "/d"}
