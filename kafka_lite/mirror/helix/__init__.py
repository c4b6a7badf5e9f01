"""The parts of Apache Helix that uReplicator needs: records, state models, the controller's pipeline, the participant.

All but ``manager`` is pure: it takes records of ZooKeeper as values, and returns the writes that follow from them.

Helix 0.6.9: helix-core · book 8.2.1
"""
