"""TLS, SASL and access control lists in the simulator: users work under faults, and strangers get nowhere.

Not in Kafka.
"""
