"""Executables: what a graph becomes to be run."""
