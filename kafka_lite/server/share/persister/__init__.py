"""Where partition leaders and group coordinators keep the state of share partitions: the share coordinators."""
