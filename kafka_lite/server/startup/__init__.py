"""The startup of a broker: finds or creates its id, ZooKeeper, logs, coordinators, controller and first metadata."""
