"""Random sources and generators: states, digests, seeds and draws."""
