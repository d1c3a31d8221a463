"""What Python and JavaScript both know of FunctionLab."""

HISTORY = 12  # so many steps can be undone
