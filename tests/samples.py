"""One of each widget, as the tests that hold them all make them."""

from lessons.widgets import MaskStudio

SAMPLES = {"MaskStudio": MaskStudio}
