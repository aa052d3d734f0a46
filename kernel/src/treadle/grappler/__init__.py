"""The optimizer: schedules of passes over the graph of a function."""
