"""The path through the book: its order, how long its pages take, and plans of days made from both."""
