"""Constants of PositionLab, shared by Python and JavaScript."""

LIMITS = {"num_positions": (2, 32), "d_model": (2, 24)}
BASES = (10, 100, 1000, 10000)
