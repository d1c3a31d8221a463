"""The course as static pages that need no network and no kernel: make site.

build     prepares the sources in build/site-source and calls Sphinx, which writes build/site
lessons   a stored notebook becomes a page: its figures as files, its folded predictions, its widgets alive
alive     the state of a widget, and all that its JavaScript needs to run without Python
conf      what Sphinx is told
static/   host.js, which brings the widgets to life where no kernel is, and the style of the pages
pages/    the pages that are not lessons
"""
