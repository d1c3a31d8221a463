"""One of each widget, as the tests that hold them all make them: without arguments, each is already a lesson."""

from lessons import widgets

SAMPLES = {name: getattr(widgets, name) for name in widgets.__all__}
