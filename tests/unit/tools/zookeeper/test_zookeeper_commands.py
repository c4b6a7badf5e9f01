"""The shell's commands, parsed without a server and run on the embedded one."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient

from kafka_lite.tools.zookeeper.zookeeper_commands import COMMANDS, ZooKeeperCommands, split_line
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


class Shell:
    """Runs lines in a chroot of its own; ``out`` and ``err`` are the output of the last one."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.out = self.err = ""

    def __call__(self, line: str) -> int:
        out, err = io.StringIO(), io.StringIO()
        code = ZooKeeperCommands(self._client, out, err).execute(split_line(line))
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def says(self, line: str) -> str:
        assert self(line) == 0, self.err
        return self.out


@pytest.fixture
def shell(server: EmbeddedZooKeeper, request: pytest.FixtureRequest) -> Iterator[Shell]:
    root = f"/{request.node.name.replace('/', '-')}"
    client = KazooClient(server.connect_string)
    client.start()
    client.ensure_path(root)
    client.chroot = root
    yield Shell(client)
    client.stop()
    client.close()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ls  /a", ["ls", "/a"]),
        ('set /a {"version":1}', ["set", "/a", '{"version":1}']),
        ('create /a "two words"', ["create", "/a", "two words"]),
        ("create /a 'it is \"so\"'", ["create", "/a", 'it is "so"']),
        ("  ", []),
    ],
)
def test_a_line_is_split_into_words(line: str, words: list[str]) -> None:
    assert split_line(line) == words


def test_data_is_written_and_read(shell: Shell) -> None:
    assert shell("create /a hello") == 0
    assert (shell.out, shell.err) == ("", "Created /a\n")
    assert shell.says("get /a") == "hello\n"
    shell.says('set /a {"version":1}')
    assert shell.says("get /a") == '{"version":1}\n'


def test_missing_data_is_null(shell: Shell) -> None:
    shell("create /a")
    assert shell.says("get /a") == "null\n"


def test_children_are_listed_in_order(shell: Shell) -> None:
    for path in ("/b", "/a", "/a/x", "/a/y", "/a/x/deep"):
        shell(f"create {path}")
    assert shell.says("ls /") == "[a, b]\n"
    assert shell.says("ls -R /") == "/\n/a\n/b\n/a/x\n/a/y\n/a/x/deep\n"
    assert shell.says("ls /b") == "[]\n"


def test_stat_prints_the_fields_of_zookeeper(shell: Shell) -> None:
    shell("create -e /a hello")
    stat = dict(line.split(" = ") for line in shell.says("stat /a").splitlines())
    assert list(stat) == [
        "cZxid", "ctime", "mZxid", "mtime", "pZxid", "cversion", "dataVersion", "aclVersion", "ephemeralOwner",
        "dataLength", "numChildren",
    ]  # fmt: skip
    assert stat["cZxid"] == stat["mZxid"]
    assert int(stat["ephemeralOwner"], 16) != 0
    assert (stat["dataLength"], stat["numChildren"]) == ("5", "0")
    assert shell.says("get -s /a").splitlines()[1:] == shell.says("stat /a").splitlines()


def test_sequential_znodes_and_containers(shell: Shell) -> None:
    assert shell("create -s /s- x") == 0
    assert shell.err == "Created /s-0000000000\n"
    assert shell("create -c /c") == 0
    assert shell.err == "Created /c\n"
    assert "ephemeralOwner = 0x0\n" in shell.says("stat /c")
    assert shell("create -c -e /d") == 1


def test_writes_check_versions(shell: Shell) -> None:
    shell("create /a 0")
    shell.says("set -v 0 /a 1")
    assert shell("set -v 0 /a 2") == 1
    assert shell.err == "version No is not valid : /a\n"
    assert shell("delete -v 0 /a") == 1
    assert shell("delete -v x /a") == 1
    shell.says("delete -v 1 /a")
    assert shell.says("ls /") == "[]\n"


def test_deleteall_deletes_the_subtree(shell: Shell) -> None:
    for command in ("deleteall", "rmr"):
        for path in ("/a", "/a/b", "/a/b/c", "/a/d"):
            shell(f"create {path}")
        assert shell("delete /a") == 1
        assert shell.err == "Node not empty: /a\n"
        shell.says(f"{command} /a")
        assert shell.says("ls /") == "[]\n"
    assert shell("deleteall /") == 1


def test_acls_are_set_and_printed(shell: Shell) -> None:
    shell("create /a x world:anyone:cdrwa,digest:u:hash:r")
    assert shell.says("getAcl /a") == "'world,'anyone\n: cdrwa\n'digest,'u:hash\n: r\n"
    shell.says("setAcl /a world:anyone:cdr")
    assert shell.says("getAcl /a") == "'world,'anyone\n: cdr\n"
    assert shell("set /a y") == 1
    assert shell.err == "Insufficient permission : /a\n"
    assert shell("setAcl /a anyone") == 1
    assert shell.err.startswith("anyone does not have the form scheme:id:perm\n")


def test_addauth_adds_an_identity(shell: Shell) -> None:
    shell.says("addauth digest u:p")
    shell("create /mine x auth::cdrwa")
    assert shell.says("getAcl /mine").startswith("'digest,'u:")


def test_sync(shell: Shell) -> None:
    assert shell.says("sync /") == "Sync is OK\n"


@pytest.mark.parametrize("line", ["get /no", "ls /no", "ls -R /no", "stat /no", "set /no x", "delete /no", "rmr /no"])
def test_a_missing_znode_is_reported(line: str, shell: Shell) -> None:
    assert shell(line) == 1
    assert (shell.out, shell.err) == ("", "Node does not exist: /no\n")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_command_without_arguments_prints_its_usage(name: str, shell: Shell) -> None:
    assert shell(name) == 1
    assert shell.err == f"{COMMANDS[name].usage}\n"


def test_unknown_commands_options_and_bad_paths_are_reported(shell: Shell) -> None:
    assert shell("frobnicate /") == 127
    assert shell.err.endswith("Command not found: Command not found frobnicate\n")
    assert shell("ls relative") == 1
    assert shell.err == "Path must start with / character\n"
    assert shell("ls /a/") == 1
    assert shell("ls -x /") == 1
    assert "option -x" in shell.err


def test_a_watch_prints_the_change(server: EmbeddedZooKeeper) -> None:
    out = io.StringIO()
    client = KazooClient(server.connect_string)
    client.start()
    commands = ZooKeeperCommands(client, out, io.StringIO())
    commands.execute(["create", "/watched"])
    commands.execute(["get", "-w", "/watched"])
    commands.execute(["set", "/watched", "new"])
    client.stop()  # joins the thread that calls watchers
    client.close()
    assert out.getvalue().endswith("WATCHER::\n\nWatchedEvent state:SyncConnected type:NodeDataChanged path:/watched\n")
