"""The three contracts that plugins fulfil: op, device and pass."""
