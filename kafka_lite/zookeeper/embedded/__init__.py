"""A server that speaks ZooKeeper's protocol, so that a cluster needs no other ZooKeeper.

ZooKeeper 3.8: zookeeper-server/src/main/java/org/apache/zookeeper/server · book 7.1.1, 7.1.3

Standalone mode, complete except for the features of ensembles (reconfiguration, read-only servers, observers), SASL's
mechanism GSSAPI, and TLS.
Bottom up, each module uses only those above it::

    jute · keeper_exception · path_utils          serialization, errors, paths
    protocol · txns                               requests and responses; transactions in the log
    watch_manager · session_tracker               watches; live sessions and their timeouts
    authentication · data_tree                    identities and ACLs; the znodes
    txn_log · snapshot · zk_database              durable state
    prep_request_processor                        decides: request -> transaction
    final_request_processor                       responds
    zookeeper_server · server_stats               packets and sessions, without sockets
    server_cnxn · server_cnxn_factory             sockets, and the one thread
    four_letter_words · embedded_zookeeper        `ruok` and other commands; EmbeddedZooKeeper, the whole server

Deliberate differences from a real 3.8 server:

- A rejected request gets no zxid and is not logged, because it changes nothing.
- Several kinds of watch by one client on one path coexist (as since 3.9) instead of replacing each other, and
  ``checkWatches`` checks the client's own watches only.
- A ``check`` outside a multi gets UNIMPLEMENTED instead of no response.
- A wrong password does not disconnect the session's real owner.
"""
