"""Constants of AttentionExplorer, shared by Python and JavaScript."""

AVERAGE = -1  # the head that is the mean of all
AVERAGE_NAME = "average of all heads"
