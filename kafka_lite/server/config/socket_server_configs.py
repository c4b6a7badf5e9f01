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
            "The addresses to listen on: `NAME://host:port,…`. Host `0.0.0.0` or none: every interface; port 0: "
            "any free one.")
    .define("advertised.listeners", Type.STRING, None, HIGH,
            "The addresses that clients are told, if they differ from those in listeners.")
    .define("listener.security.protocol.map", Type.STRING,
            "SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,TRACE:TRACE,SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT", LOW,
            "Which security protocol each listener name stands for: `NAME:PROTOCOL,…`.")
    .define("inter.broker.listener.name", Type.STRING, None, MEDIUM,
            "The listener that brokers use among themselves. Not set: the one named after "
            "security.inter.broker.protocol.")
    .define("security.inter.broker.protocol", Type.STRING, "PLAINTEXT", MEDIUM,
            "The security protocol among brokers; not together with inter.broker.listener.name.")
    .define("host.name", Type.STRING, "", HIGH,
            "Old form of listeners: the host to bind. Used only when listeners is not set.")
    .define("port", Type.INT, 9092, HIGH,
            "Old form of listeners: the port. Used only when listeners is not set.")
    .define("advertised.host.name", Type.STRING, None, HIGH,
            "Old form of advertised.listeners: the host.")
    .define("advertised.port", Type.INT, None, HIGH,
            "Old form of advertised.listeners: the port.")
    .define("socket.send.buffer.bytes", Type.INT, 102400, HIGH,
            "SO_SNDBUF of client connections; -1: the system's default.")
    .define("socket.receive.buffer.bytes", Type.INT, 102400, HIGH,
            "SO_RCVBUF of client connections; -1: the system's default.")
    .define("socket.request.max.bytes", Type.INT, 104857600, HIGH,
            "The largest request that is read, bytes; a larger one closes the connection.", at_least(1))
    .define("max.connections.per.ip", Type.INT, 2147483647, MEDIUM,
            "Connections from one address at most.", at_least(0))
    .define("max.connections.per.ip.overrides", Type.STRING, "", MEDIUM,
            "Exceptions to max.connections.per.ip: `host:number,…`.")
    .define("connections.max.idle.ms", Type.LONG, 600000, MEDIUM,
            "A connection without traffic for this long is closed.")
)
# fmt: on
