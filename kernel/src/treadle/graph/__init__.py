"""The graph: nodes and values, their rewriting, checking and text form."""
