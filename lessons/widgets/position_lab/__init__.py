"""PositionLab: sinusoids, distances and rotary pairs."""
