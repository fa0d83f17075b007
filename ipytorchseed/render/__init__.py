"""Records drawn as text, HTML and JSON. One view of each: no surface draws its own."""
