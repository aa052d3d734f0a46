"""Optimizer passes: one module and one entry point per pass, and the schedule that orders them."""
