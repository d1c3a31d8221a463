"""What Python and JavaScript both know of AttentionExplorer."""

AVERAGE = -1  # the head that is the mean of all
AVERAGE_NAME = "average of all heads"
