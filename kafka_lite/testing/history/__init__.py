"""What clients did and were told, and the checker that judges it: one for the simulator and for real processes.

Not in Kafka.
"""
