"""Training held against itself: does it go on from a checkpoint as if it had not stopped?"""
