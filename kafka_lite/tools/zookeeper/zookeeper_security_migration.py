"""``kafka-lite zookeeper-security-migration``: set the access control lists of the znodes of a cluster that exists.

Kafka 0.10.2: core/.../admin/ZkSecurityMigrator.scala, bin/zookeeper-security-migration.sh · book 7.1.3
"""

from __future__ import annotations

import argparse
import sys

from kafka_lite.security.auth.login_configuration import JAVA_LOGIN_CONFIG_PARAM, zookeeper_login
from kafka_lite.security.ssl.zookeeper_ssl import client_values, has_client_certificate
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import add_zk_tls_argument, zookeeper_client
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.zk_acls import SECURE_ROOT_PATHS
from kafka_lite.zookeeper.zk_errors import NoNodeError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

NAME = "zookeeper-security-migration"
SUMMARY = "let only brokers write Kafka's znodes, or everyone again"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of zookeeper-security-migration.sh."""
    parser.add_argument(
        "--zookeeper.acl",
        dest="acl",
        required=True,
        choices=("secure", "unsecure"),
        help="secure: only the user of the login file may write; unsecure: everyone may",
    )
    parser.add_argument(
        "--zookeeper.connect", dest="connect", default="localhost:2181", metavar="HOST:PORT", help="ZooKeeper's servers"
    )
    parser.add_argument(
        "--enable.path.check", dest="path_check", action="store_true", help="do nothing if a root of Kafka is missing"
    )
    add_zk_tls_argument(parser)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Set the lists; returns 1 on error. Brokers and tools may run meanwhile."""
    file = options.zk_tls_config_file
    if zookeeper_login() is None and not has_client_certificate(client_values(file)):
        raise ToolError(
            "no user for ZooKeeper: KAFKA_OPTS must name a JAAS login file with a section Client, "
            f"KAFKA_OPTS=-D{JAVA_LOGIN_CONFIG_PARAM}=FILE, or --zk-tls-config-file a certificate"
        )
    with zookeeper_client(options.connect, set_acl=options.acl == "secure", tls_config_file=file) as zk_client:
        return migrate(zk_client.zookeeper, path_check=options.path_check)


def migrate(zookeeper: ZooKeeperClient, *, path_check: bool) -> int:
    """Give Kafka's nodes, and the root, the lists that this session gives to new ones; returns the exit code."""
    missing = [path for path in SECURE_ROOT_PATHS if zookeeper.exists(path) is None]
    if missing:
        print(f"Warning: The following secure root paths do not exist in ZooKeeper: {','.join(missing)}")
        print("That might be due to an incorrect chroot is specified when executing the command.")
        if path_check:
            print("Exit the command.", file=sys.stderr)
            return 1
    zookeeper.set_default_acl("/")
    for root in SECURE_ROOT_PATHS:
        if root == paths.CONTROLLER and root in missing:
            continue  # it belongs to the broker that creates it
        zookeeper.ensure_path(root)
        for path in zookeeper.tree(root):
            _set(zookeeper, path)
    return 0


def _set(zookeeper: ZooKeeperClient, path: str) -> None:
    try:
        zookeeper.set_default_acl(path)
    except NoNodeError:
        print(f"Node is gone, it could be have been legitimately deleted: {path}", file=sys.stderr)
