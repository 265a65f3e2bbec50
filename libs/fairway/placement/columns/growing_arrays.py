"""Arrays that get wider behind, with zeros."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fairway.placement.columns.change_log import Numbers

Array = TypeVar("Array", NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_])


def grown(array: Numbers, least: int) -> Numbers:
    """With room for `least` in its last dimension, and for as many again, so that growing is rare."""
    return widened(array, max(2 * array.shape[-1], least))


def widened(array: Array, size: int) -> Array:
    """The same with zeros behind it up to this size of its last dimension."""
    wider = np.zeros((*array.shape[:-1], size), array.dtype)
    wider[..., : array.shape[-1]] = array
    return wider
