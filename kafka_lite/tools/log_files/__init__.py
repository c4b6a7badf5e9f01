"""``dump-log``: reads the files of a log directory, and prints, checks or draws them."""
