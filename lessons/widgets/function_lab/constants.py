"""Constants of FunctionLab, shared by Python and JavaScript."""

HISTORY = 12  # so many steps can be undone
