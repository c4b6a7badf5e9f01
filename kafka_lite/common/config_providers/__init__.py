"""Values of configurations that are kept elsewhere: ``${file:/etc/secrets.properties:password}``.

Kafka 2.0: clients/.../common/config/provider · book 1.4.1
"""
