"""Keys about authentication, encryption and authorization.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (authorizer, SSL, SASL) · book 2.3.1
"""

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type, ValidString

HIGH, MEDIUM, LOW = Importance
AUTHORIZERS = ("kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer")
"""The names by which Kafka knows the authorizer with access control lists in ZooKeeper."""

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SECURITY_CONFIGS = (
    ConfigDef()
    .define("authorizer.class.name", Type.STRING, "", LOW,
            "The class that authorizes requests: `kafka.security.authorizer.AclAuthorizer`, or by its older name "
            "`kafka.security.auth.SimpleAclAuthorizer`; or a class of your own, `package.module.Class`. Empty: "
            "everything is allowed.")
    .define("super.users", Type.STRING, "", MEDIUM,
            "Users who may do everything, such as the brokers: `User:a;User:b`.")
    .define("allow.everyone.if.no.acl.found", Type.BOOLEAN, False, MEDIUM,
            "Whether everyone may use a resource that no access control list is about.")
    .define("principal.builder.class", Type.CLASS,
            "org.apache.kafka.common.security.auth.DefaultPrincipalBuilder", MEDIUM,
            "The class that determines the principal of a connection.")
    .define("ssl.protocol", Type.STRING, "TLS", MEDIUM,
            "The protocol family of SSL contexts.")
    .define("ssl.provider", Type.STRING, None, MEDIUM,
            "The Java security provider; has no meaning outside Java.")
    .define("ssl.cipher.suites", Type.LIST, None, MEDIUM,
            "The cipher suites to offer. Not set: all.")
    .define("ssl.enabled.protocols", Type.LIST, "TLSv1.2,TLSv1.3", MEDIUM,
            "The TLS versions to offer.")
    .define("ssl.keystore.type", Type.STRING, "JKS", MEDIUM,
            "The format of the key store: PEM, PKCS12 or JKS.")
    .define("ssl.keystore.location", Type.STRING, None, MEDIUM,
            "The file of the key store: private key and certificate chain.")
    .define("ssl.keystore.key", Type.PASSWORD, None, MEDIUM,
            "The private key as text, in place of ssl.keystore.location.")
    .define("ssl.keystore.certificate.chain", Type.PASSWORD, None, MEDIUM,
            "The certificate chain of ssl.keystore.key as text.")
    .define("ssl.keystore.password", Type.PASSWORD, None, MEDIUM,
            "The password of the key store.")
    .define("ssl.key.password", Type.PASSWORD, None, MEDIUM,
            "The password of the private key, if it differs from that of the key store.")
    .define("ssl.truststore.type", Type.STRING, "JKS", MEDIUM,
            "The format of the trust store: PEM, PKCS12 or JKS.")
    .define("ssl.truststore.location", Type.STRING, None, MEDIUM,
            "The file of the trust store: the certificates of the authorities that sign those of clients.")
    .define("ssl.truststore.certificates", Type.PASSWORD, None, MEDIUM,
            "The same certificates as text, in place of ssl.truststore.location.")
    .define("ssl.truststore.password", Type.PASSWORD, None, MEDIUM,
            "The password of the trust store.")
    .define("ssl.keymanager.algorithm", Type.STRING, "SunX509", MEDIUM,
            "The Java key manager's algorithm; has no meaning outside Java.")
    .define("ssl.trustmanager.algorithm", Type.STRING, "PKIX", MEDIUM,
            "The Java trust manager's algorithm; has no meaning outside Java.")
    .define("ssl.endpoint.identification.algorithm", Type.STRING, None, LOW,
            "How a peer's certificate is checked against its host name.")
    .define("ssl.secure.random.implementation", Type.STRING, None, LOW,
            "The Java random number generator; has no meaning outside Java.")
    .define("ssl.client.auth", Type.STRING, "none", MEDIUM,
            "Whether a client certificate is required, requested or not used.",
            ValidString.in_("required", "requested", "none"))
    .define("ssl.principal.mapping.rules", Type.STRING, "DEFAULT", LOW,
            "How the name of a client's certificate becomes the name of a user: `RULE:pattern/replacement/`, with L or "
            "U at the end for lower or upper case, or `DEFAULT`. The first rule that matches counts.")
    .define("sasl.mechanism.inter.broker.protocol", Type.STRING, "GSSAPI", MEDIUM,
            "The SASL mechanism between brokers.")
    .define("sasl.enabled.mechanisms", Type.LIST, "GSSAPI", MEDIUM,
            "The SASL mechanisms that clients may use: GSSAPI (Kerberos), PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, "
            "OAUTHBEARER.")
    .define("sasl.kerberos.service.name", Type.STRING, None, MEDIUM,
            "The first part of the brokers' principals in Kerberos: kafka of kafka/broker1.example.com@EXAMPLE.COM.")
    .define("sasl.kerberos.kinit.cmd", Type.STRING, "/usr/bin/kinit", MEDIUM,
            "The path of kinit.")
    .define("sasl.kerberos.ticket.renew.window.factor", Type.DOUBLE, 0.8, MEDIUM,
            "The share of a Kerberos ticket's lifetime after which it is renewed.")
    .define("sasl.kerberos.ticket.renew.jitter", Type.DOUBLE, 0.05, MEDIUM,
            "The share of the renewal time that is random.")
    .define("sasl.kerberos.min.time.before.relogin", Type.LONG, 60000, MEDIUM,
            "The minimum time between two renewals.")
    .define("sasl.kerberos.principal.to.local.rules", Type.LIST, "DEFAULT", MEDIUM,
            "How Kerberos principals get user names: `RULE:[1:$1@$0](pattern)s/pattern/replacement/g/L`, or `DEFAULT` "
            "for those of the default realm. The first rule that applies counts.")
    .define("sasl.jaas.config", Type.PASSWORD, None, MEDIUM,
            "The login module of a mechanism and its options. Use the key of a listener and mechanism, "
            "`listener.name.L.plain.sasl.jaas.config`: for PLAIN its options are the users, `user_alice=\"…\"`.")
    .define("sasl.oauthbearer.jwks.endpoint.url", Type.STRING, None, MEDIUM,
            "The URL of the token issuer's public keys, `https:` or `file:`. With it, OAUTHBEARER takes signed tokens "
            "only; without it, unsecured ones, which are for tests.")
    .define("sasl.oauthbearer.jwks.endpoint.refresh.ms", Type.LONG, 3_600_000, LOW,
            "How often these keys are read again.")
    .define("sasl.oauthbearer.expected.audience", Type.LIST, None, LOW,
            "Audiences, of which a signed token must be for one.")
    .define("sasl.oauthbearer.expected.issuer", Type.STRING, None, LOW,
            "The issuer that a signed token must be of.")
    .define("sasl.oauthbearer.clock.skew.seconds", Type.INT, 30, LOW,
            "How much the clocks of issuer and broker may differ.")
    .define("sasl.oauthbearer.sub.claim.name", Type.STRING, "sub", LOW,
            "The claim of a signed token that has its user.")
    .define("sasl.oauthbearer.scope.claim.name", Type.STRING, "scope", LOW,
            "The claim of a signed token that has its scopes.")
    .define("sasl.server.max.receive.size", Type.INT, 524288, MEDIUM,
            "The largest frame of a client that has not authenticated yet.")
    .define("delegation.token.secret.key", Type.PASSWORD, None, MEDIUM,
            "The key with which brokers make and check the secrets of delegation tokens; the same on all of them. Not "
            "set: there are no delegation tokens.")
    .define("delegation.token.master.key", Type.PASSWORD, None, MEDIUM,
            "The older name of delegation.token.secret.key.")
    .define("delegation.token.max.lifetime.ms", Type.LONG, 7 * 24 * 60 * 60 * 1000, MEDIUM,
            "The longest life of a delegation token, however often it is renewed.", Range.at_least(1))
    .define("delegation.token.expiry.time.ms", Type.LONG, 24 * 60 * 60 * 1000, MEDIUM,
            "How long a delegation token is valid before it must be renewed.", Range.at_least(1))
    .define("delegation.token.expiry.check.interval.ms", Type.LONG, 60 * 60 * 1000, LOW,
            "How often the controller deletes delegation tokens that have expired.", Range.at_least(1))
    .define("connections.max.reauth.ms", Type.LONG, 0, MEDIUM,
            "How long a client may stay connected by SASL without authenticating again; 0: for ever. A mechanism of a "
            "listener can have its own, `listener.name.L.plain.connections.max.reauth.ms`.")
)
# fmt: on
