"""The data of the quickstart: scikit-learn's handwritten digits, augmented at random.

In a file of its own, so that DataLoader workers can import it on every platform.
"""

import random

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.utils.data import Dataset


class AugmentedDigits(Dataset):
    """1,797 images of 8 x 8, each shifted by a pixel and blurred by noise when it is read.

    The shift is drawn from Python's ``random``, the noise from ``numpy.random``.
    """

    def __init__(self):
        images, labels = load_digits(return_X_y=True)
        self.images = (images.reshape(-1, 8, 8) / 16).astype(np.float32)
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = np.roll(self.images[index], random.choice([-1, 0, 1]), axis=1)
        image = image + np.random.normal(0, 0.1, image.shape).astype(np.float32)
        return torch.from_numpy(image)[None], int(self.labels[index])
