"""Random sources and generators: their states, digests, seeds and draws."""
