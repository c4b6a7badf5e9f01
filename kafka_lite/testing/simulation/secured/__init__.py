"""SASL and access control lists in the simulator: users do their work under faults, and strangers get nowhere. Not in
Kafka."""
