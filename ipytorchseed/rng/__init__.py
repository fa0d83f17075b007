"""Where random numbers come from: sources, generators, states, digests and draws."""
