"""A server of ZooKeeper's own protocol, for a cluster that needs no other.

ZooKeeper 3.8: zookeeper-server/src/main/java/org/apache/zookeeper/server · book 7.1.1, 7.1.3

Standalone mode, complete but for what belongs to ensembles (reconfiguration, read-only servers, observers), and for
SASL and TLS.
Bottom up, each module using only those above it::

    jute · keeper_exception · path_utils          the serialization, the errors, the paths
    protocol · txns                               what clients say; what the log keeps
    watch_manager · session_tracker               who hears of what; who lives how long
    authentication · data_tree                    who may; the znodes
    txn_log · snapshot · zk_database              what outlives the process
    prep_request_processor                        decides: request -> transaction
    final_request_processor                       answers
    zookeeper_server · server_stats               packets and sessions, without sockets
    server_cnxn · server_cnxn_factory             sockets, and the one thread
    four_letter_words · server                    `ruok` and the like; EmbeddedZooKeeper, the whole of it

Where it answers otherwise than a real 3.8 server, knowingly:

- A refused request gets no zxid and is not logged: it changes nothing.
- Several kinds of watch of one client on one path stand side by side (as from 3.9 on) instead of replacing each other,
  and ``checkWatches`` asks for the client's own watches, not for anybody's.
- A ``check`` outside of a multi is answered with UNIMPLEMENTED instead of not at all.
- A wrong password does not cost the session's real owner its connection.
"""
