"""The REST interface of uReplicator's controller: plain text, and JSON as text. · book 8.2.2"""
