"""Keys about listeners and connections.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (socket server) · book 2.3.1
"""

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SOCKET_SERVER_CONFIGS = (
    ConfigDef()
    .define("listeners", Type.STRING, "PLAINTEXT://127.0.0.1:9092", HIGH,
            "The addresses to listen on: `NAME://host:port,…`. Host `0.0.0.0` or none: all interfaces; port 0: any "
            "free port.")
    .define("advertised.listeners", Type.STRING, None, HIGH,
            "The addresses given to clients if they differ from listeners.")
    .define("listener.security.protocol.map", Type.STRING,
            "SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,TRACE:TRACE,SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT", LOW,
            "The security protocol of each listener name: `NAME:PROTOCOL,…`.")
    .define("inter.broker.listener.name", Type.STRING, None, MEDIUM,
            "The listener that brokers use among themselves. Not set: the one named after "
            "security.inter.broker.protocol.")
    .define("security.inter.broker.protocol", Type.STRING, "PLAINTEXT", MEDIUM,
            "The security protocol between brokers. Cannot be combined with inter.broker.listener.name.")
    .define("host.name", Type.STRING, "", HIGH,
            "Deprecated, use listeners: the host to bind. Used only if listeners is not set.")
    .define("port", Type.INT, 9092, HIGH,
            "Deprecated, use listeners: the port. Used only if listeners is not set.")
    .define("advertised.host.name", Type.STRING, None, HIGH,
            "Deprecated, use advertised.listeners: the host.")
    .define("advertised.port", Type.INT, None, HIGH,
            "Deprecated, use advertised.listeners: the port.")
    .define("socket.send.buffer.bytes", Type.INT, 102400, HIGH,
            "SO_SNDBUF of client connections; -1: the system's default.")
    .define("socket.receive.buffer.bytes", Type.INT, 102400, HIGH,
            "SO_RCVBUF of client connections; -1: the system's default.")
    .define("socket.request.max.bytes", Type.INT, 104857600, HIGH,
            "The maximum size of a request. A larger one closes the connection.", at_least(1))
    .define("max.connections.per.ip", Type.INT, 2147483647, MEDIUM,
            "The maximum number of connections from one address.", at_least(0))
    .define("max.connections.per.ip.overrides", Type.STRING, "", MEDIUM,
            "Addresses with another limit than max.connections.per.ip: `host:number,…`.")
    .define("max.connection.creation.rate", Type.INT, 2147483647, MEDIUM,
            "How many connections per second the broker accepts, without those of the inter-broker listener. "
            "A listener `L` can have its own rate, `listener.name.l.max.connection.creation.rate`, and an address "
            "one in ZooKeeper (`kafka-lite configs --entity-type ips`).", at_least(0))
    .define("connections.max.idle.ms", Type.LONG, 600000, MEDIUM,
            "How long an idle connection is kept open.")
    .define("connection.failed.authentication.delay.ms", Type.INT, 100, LOW,
            "How long a client that is not accepted waits for its answer, and for the end of its connection.",
            at_least(0))
)
# fmt: on
