"""The beans of a running broker: finds its HTTP endpoint and reads them.

Kafka 0.10.2: core/.../tools/JmxTool.scala, which uses a JMX connection · book 2.3
"""

from __future__ import annotations

import argparse
import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlsplit

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG
from kafka_lite.security.ssl.ssl_factory import SslFactory
from kafka_lite.tools.admin.command_config import NO_CONFIGS, command_configs
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.server.running_brokers import RunningBroker, RunningBrokers

Attributes = Mapping[str, object]
Beans = dict[str, Attributes]
"""Object name → attribute → value."""

METRICS_URL = "metrics.url"
"""Key of the endpoint's URL among the facts that a running broker publishes."""
TIMEOUT_S = 5.0
HOW_TO_TRUST = "set ssl.truststore.location (and ssl.keystore.location, if it wants a certificate) by --command-config"
HOW_TO_SWITCH_ON = "set metrics.http.port=0 in its server.properties (or --override metrics.http.port=0) and restart it"


def add_endpoint_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose a broker."""
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="address of a broker on this machine (default: the only one running)",
    )
    parser.add_argument(
        "--metrics-url", metavar="URL", help="HTTP address of a broker's metrics, such as http://127.0.0.1:9404"
    )


def find_endpoint(options: argparse.Namespace, brokers: RunningBrokers | None = None) -> BrokerBeans:
    """The endpoint of the broker that the options name. An ``https`` one is read with the keys of ``--command-config``.

    Raises ToolError, which says what to do; ConfigError or OSError for that file.
    """
    if options.metrics_url:
        return BrokerBeans(_checked(options.metrics_url), command_configs(options))
    broker = _chosen((brokers or RunningBrokers()).find(), options.bootstrap_server)
    url = broker.facts.get(METRICS_URL)
    if not url:
        raise ToolError(
            f"Broker {broker.facts.get('broker.id', '?')} (process {broker.pid}) does not serve metrics: "
            f"{HOW_TO_SWITCH_ON}. `kafka-lite top --cluster` needs no metrics."
        )
    return BrokerBeans(url, command_configs(options))


def _checked(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ToolError(f"--metrics-url {url}: must be a URL such as http://127.0.0.1:9404")
    return f"{parts.scheme}://{parts.netloc}"


def _chosen(running: Sequence[RunningBroker], bootstrap_server: str | None) -> RunningBroker:
    if not running:
        raise ToolError(
            "You have no broker running on this machine. Start one with `kafka-lite server-start`, or use "
            "--metrics-url for a broker on another machine or of another user."
        )
    if bootstrap_server:
        _, port = parse_bootstrap_servers(bootstrap_server)[0]
        found = [broker for broker in running if f":{port} (" in broker.facts.get("listeners", "")]
        if not found:
            raise ToolError(f"None of your brokers on this machine listens on port {port}. Running: {_list(running)}.")
        return found[0]
    if len(running) > 1:
        raise ToolError(f"Several brokers are running; choose one with --bootstrap-server: {_list(running)}.")
    return running[0]


def _list(running: Sequence[RunningBroker]) -> str:
    return "; ".join(f"broker {b.facts.get('broker.id', '?')} at {b.facts.get('listeners', '?')}" for b in running)


class BrokerBeans:
    """The metrics endpoint of one broker."""

    def __init__(self, url: str, configs: Mapping[str, object] = NO_CONFIGS) -> None:
        """``configs``: if the URL is of https, those with ``ssl.``. Raises ConfigError."""
        self.url = url
        self._tls = None
        if urlsplit(url).scheme == "https":
            self._tls = SslFactory(CLIENT_SECURITY_CONFIG.parse(configs), server=False).context

    def read(self, pattern: str | None = None) -> Beans:
        """Read all beans, or those whose names match. Raises ToolError if the endpoint does not respond."""
        query = f"?qry={quote(pattern)}" if pattern else ""
        try:
            with urllib.request.urlopen(f"{self.url}/jmx{query}", timeout=TIMEOUT_S, context=self._tls) as response:
                document = json.load(response)
            return {bean.pop("name"): bean for bean in document["beans"]}
        except urllib.error.HTTPError as error:
            with error:
                raise ToolError(
                    f"{self.url}: HTTP {error.code}: {error.read(500).decode(errors='replace').strip()}"
                ) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ToolError(f"{self.url} is not the metrics endpoint of a kafka_lite broker.") from None
        except (OSError, http.client.HTTPException) as error:  # the latter if the broker ended meanwhile
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, ssl.SSLError):
                raise ToolError(
                    f"{self.url} and this tool do not accept each other ({reason}): {HOW_TO_TRUST}."
                ) from None
            raise ToolError(
                f"Cannot read metrics from {self.url} ({reason}). Is the broker running? If so, {HOW_TO_SWITCH_ON}."
            ) from None
