"""What a starting broker finds out and creates: its id, ZooKeeper, logs, coordinators, controller, first metadata."""
