"""Op contracts: inference, gradients and the public functions that call them."""
