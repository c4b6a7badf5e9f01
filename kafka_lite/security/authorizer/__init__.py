"""Authorization: access control lists, how they are kept in ZooKeeper, and the decision."""
