"""The course in other languages: what there is to translate (sources), and the catalogs of it (catalogs)."""
