"""The disks under the logs: locks of their directories, and what happens if one fails."""
