"""Checks a training's checkpoint: does it go on from there as if it had not been interrupted?"""
