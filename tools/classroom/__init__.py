"""One machine for a whole class: `make class`. What it is and what it isn't: class/README.md."""
