"""The command ``treadle``."""
