"""ModelStudio."""
