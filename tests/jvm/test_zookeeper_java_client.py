"""ZooKeeper's own Java client and command line with the embedded server."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.patience import patient_s
from tests.support.real_zookeeper import classpath, java, require_real_zookeeper

pytestmark = pytest.mark.jvm

COMMANDS = """\
create /app "hello"
create -s /app/seq-
create -e /app/here now
create -c /box
ls -s /app
get /app
set -v 0 /app world
set -v 0 /app never
stat -w /app
addWatch -m PERSISTENT_RECURSIVE /app
create /app/child x
getEphemerals
getAllChildrenNumber /app
whoami
addauth digest alice:secret
setAcl /app/child auth:alice:secret:cdrwa
getAcl /app/child
sync /app
deleteall /app
ls /
quit
"""


def test_zookeeper_cli_works_with_the_embedded_server(tmp_path: Path) -> None:
    require_real_zookeeper()
    with EmbeddedZooKeeper(tmp_path) as server:
        run = subprocess.run(
            [
                java() or "java",
                "-cp",
                classpath() or "",
                "org.apache.zookeeper.ZooKeeperMain",
                "-server",
                server.connect_string,
            ],
            input=COMMANDS,
            capture_output=True,
            text=True,
            timeout=patient_s(60),
            check=False,
        )
    output = run.stdout + run.stderr
    for expected in (
        "[here, seq-0000000000]",
        "numChildren = 2",
        "version No is not valid : /app",
        "type:NodeCreated path:/app/child",
        "[/app/here]",
        "'digest,'alice:",
        "Sync is OK",
        "type:NodeDeleted path:/app/child",
        "[box, zookeeper]",
    ):
        assert expected in output, output
