"""Array types for annotations."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
UnitArray: TypeAlias = NDArray[Any]  # utilities in units of a game: int64 for accuracy, else float64
BoolArray: TypeAlias = NDArray[np.bool_]
if TYPE_CHECKING:
    Sparse: TypeAlias = sp.csr_array[np.float64, tuple[int, int]]
    Incidence: TypeAlias = sp.csr_array[np.int64, tuple[int, int]]
else:  # older versions of SciPy cannot be subscripted
    Sparse = Incidence = sp.csr_array
