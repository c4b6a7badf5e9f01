"""Administration through ZooKeeper: creates, alters and deletes topics and configs."""
