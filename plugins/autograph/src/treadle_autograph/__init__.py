"""Python control flow on the values of tensors, for functions that treadle traces."""
