"""Constants of AttentionExplorer, shared by Python and JavaScript."""

from lessons.wording import marked

AVERAGE = -1  # the head that is the mean of all
AVERAGE_NAME = marked("average of all heads")
