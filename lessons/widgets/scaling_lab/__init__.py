"""ScalingLab: what dividing by the square root of d does."""
