"""explore: the learner's function under sliders and menus."""
