"""A live cluster: brokers, ZooKeeper and clients in a simulated world that a reader steers, in a browser, too."""
