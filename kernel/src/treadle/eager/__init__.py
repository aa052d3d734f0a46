"""Running ops at once: entry points, dispatch and its slow path."""
