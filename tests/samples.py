"""One of each widget, as the tests that hold them all make them."""

from lessons.widgets import DotProductStepper, MaskStudio

SAMPLES = {"MaskStudio": MaskStudio, "DotProductStepper": DotProductStepper}
