"""Tools that send what they read and print what they receive: the console clients and their relatives."""
