"""Our zookeeper-shell prints the same as ZooKeeper's own shell, with servers that start empty."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.patience import patient_s
from tests.support.real_zookeeper import classpath, java, require_real_zookeeper

LINES = """\
create /a hello
create /a hello
create -e /a/e x
create -s /a/s- y
create -c /cont
create /a/b/c x
create /nul
ls /
ls -s /a
ls -R /
ls /nope
ls nope
get /a
get -s /a
get /nul
get -s /nul
get /nope
stat /a
stat /nope
set /a {"version":1}
get /a
set -v 0 /a again
set -s /a s2
set /nope x
delete -v 9 /a
delete /a
delete /nope
getAcl /a
getAcl -s /a
getAcl /nope
setAcl /a world:anyone:cdrw
getAcl /a
setAcl /a world:anyone:cdrwa
setAcl /a bad
create /acl data digest:u:abc=:r
getAcl /acl
sync /a
addauth digest u:p
create /au x auth::cdrwa
getAcl /au
deleteall /nul
deleteall /nope
get
set /a
delete
create /q "two words"
get /q
ls /zookeeper
stat /zookeeper/config
quit
"""

LONGER_USAGES = (" [-t ttl]", " [-b batch size]")
"""Options that ours does not have."""

VARIES = re.compile(r"^(SLF4J: .*|JLine support is disabled|Connecting to .*)\n|(?<=time = ).*2\d{3}$", re.MULTILINE)

CLOSED = ["", "WATCHER::", "", "WatchedEvent state:Closed type:None path:null"]
"""The last lines. Java's shell ends without waiting for the thread that prints them, so that some may be missing."""


def shell(command: list[str]) -> tuple[list[str], list[str]]:
    """Stdout and stderr of a shell that reads LINES, without what differs from run to run."""
    done = subprocess.run(command, input=LINES, capture_output=True, text=True, timeout=patient_s(100), check=False)
    return tuple(VARIES.sub("", text).splitlines() for text in (done.stdout, done.stderr))  # type: ignore[return-value]


def without_closed(lines: list[str]) -> list[str]:
    """Without the message CLOSED, which may be cut anywhere."""
    ends = (length for length in range(len(CLOSED), 0, -1) if lines[-length:] == CLOSED[:length])
    return lines[: len(lines) - next(ends, 0)]


@pytest.mark.jvm
def test_the_same_lines_give_the_same_output(tmp_path: Path) -> None:
    require_real_zookeeper(debian=True)  # 3.9 has other options, and prints the zxid of an event
    with EmbeddedZooKeeper(tmp_path / "theirs") as server:
        main = ["org.apache.zookeeper.ZooKeeperMain", "-server", server.connect_string]
        out, err = shell([str(java()), "-cp", str(classpath()), *main])
    with EmbeddedZooKeeper(tmp_path / "ours") as server:
        program = [sys.executable, "-m", "kafka_lite.tools.main", "zookeeper-shell", server.connect_string]
        our_out, our_err = shell(program)
    assert len(out) > 100
    assert our_out[-len(CLOSED) :] == CLOSED
    assert without_closed(our_out) == without_closed(out)
    for option in LONGER_USAGES:
        err = [line.replace(option, "") for line in err]
    assert our_err == err
