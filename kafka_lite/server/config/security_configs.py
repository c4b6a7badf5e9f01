"""Keys about authentication, encryption and authorization.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (authorizer, SSL, SASL) · book 2.3.1
"""

from kafka_lite.common.config_def import ConfigDef, Importance, Type, ValidString

HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SECURITY_CONFIGS = (
    ConfigDef()
    .define("authorizer.class.name", Type.STRING, "", LOW,
            "The class that decides who may do what; empty: everybody everything.")
    .define("principal.builder.class", Type.CLASS,
            "org.apache.kafka.common.security.auth.DefaultPrincipalBuilder", MEDIUM,
            "The class that makes a principal of a connection.")
    .define("ssl.protocol", Type.STRING, "TLS", MEDIUM,
            "Protocol family of SSL contexts.")
    .define("ssl.provider", Type.STRING, None, MEDIUM,
            "Java security provider; has no meaning outside Java.")
    .define("ssl.cipher.suites", Type.LIST, None, MEDIUM,
            "Cipher suites to offer; not set: all.")
    .define("ssl.enabled.protocols", Type.LIST, "TLSv1.2,TLSv1.1,TLSv1", MEDIUM,
            "TLS versions to offer.")
    .define("ssl.keystore.type", Type.STRING, "JKS", MEDIUM,
            "Format of the key store.")
    .define("ssl.keystore.location", Type.STRING, None, MEDIUM,
            "File of the key store.")
    .define("ssl.keystore.password", Type.PASSWORD, None, MEDIUM,
            "Password of the key store.")
    .define("ssl.key.password", Type.PASSWORD, None, MEDIUM,
            "Password of the private key in it.")
    .define("ssl.truststore.type", Type.STRING, "JKS", MEDIUM,
            "Format of the trust store.")
    .define("ssl.truststore.location", Type.STRING, None, MEDIUM,
            "File of the trust store.")
    .define("ssl.truststore.password", Type.PASSWORD, None, MEDIUM,
            "Password of the trust store.")
    .define("ssl.keymanager.algorithm", Type.STRING, "SunX509", MEDIUM,
            "Java key manager algorithm; has no meaning outside Java.")
    .define("ssl.trustmanager.algorithm", Type.STRING, "PKIX", MEDIUM,
            "Java trust manager algorithm; has no meaning outside Java.")
    .define("ssl.endpoint.identification.algorithm", Type.STRING, None, LOW,
            "How a peer's certificate is matched with its host name.")
    .define("ssl.secure.random.implementation", Type.STRING, None, LOW,
            "Java random number source; has no meaning outside Java.")
    .define("ssl.client.auth", Type.STRING, "none", MEDIUM,
            "Whether clients must, may or need not show a certificate.",
            ValidString.in_("required", "requested", "none"))
    .define("sasl.mechanism.inter.broker.protocol", Type.STRING, "GSSAPI", MEDIUM,
            "SASL mechanism among brokers.")
    .define("sasl.enabled.mechanisms", Type.LIST, "GSSAPI", MEDIUM,
            "SASL mechanisms that clients may use.")
    .define("sasl.kerberos.service.name", Type.STRING, None, MEDIUM,
            "Kerberos name that brokers run as.")
    .define("sasl.kerberos.kinit.cmd", Type.STRING, "/usr/bin/kinit", MEDIUM,
            "Path of kinit.")
    .define("sasl.kerberos.ticket.renew.window.factor", Type.DOUBLE, 0.8, MEDIUM,
            "Share of a ticket's life after which it is renewed.")
    .define("sasl.kerberos.ticket.renew.jitter", Type.DOUBLE, 0.05, MEDIUM,
            "Random part of that.")
    .define("sasl.kerberos.min.time.before.relogin", Type.LONG, 60000, MEDIUM,
            "Pause between renewals.")
    .define("sasl.kerberos.principal.to.local.rules", Type.LIST, "DEFAULT", MEDIUM,
            "How Kerberos principals become user names.")
)
# fmt: on
