"""What administrators do through ZooKeeper: create, alter and delete topics and configs."""
