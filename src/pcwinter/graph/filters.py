"""Name of a filter and K -> theta: the weights of the powers of the propagation.

The rows of a model are sum over j of theta_j S^j X, 0 <= j <= K. The filters are

    sgc            theta_K = 1, all others 0
    appnp:ALPHA    theta_j = ALPHA (1 - ALPHA)^j for j < K, theta_K = (1 - ALPHA)^K
    mean           theta_j = 1 / (K + 1)

The filter "hops" is no sum. Its rows are the blocks X, A X, ..., A^K X side by side, where A is the adjacency with rows
that sum to 1 and without self-loops.
"""

from collections.abc import Sequence
from math import nan

import numpy as np

from pcwinter._util.checks import did_you_mean, either, number

SUMS = ("sgc", "appnp:ALPHA", "mean")
FILTERS = (*SUMS, "hops")
SMALLEST = 1e-9  # of the weights theta that are not 0; the largest is 1e9


class Blocks(tuple[float, ...]):
    """Scales of the blocks of the filter "hops", in the place of the weights of a sum."""


def filter_weights(filter: str | Sequence[float], hops: int) -> tuple[float, ...]:
    """The weights theta as a tuple of hops + 1 floats, from the name of a filter or from theta itself; () for "sgc".

    For "hops" they are `Blocks` without a scale, see `filter_of`.
    """
    if not isinstance(filter, str):
        return check_weights("filter", filter, hops)
    kind, _, parameter = filter.partition(":")
    if filter == "sgc":
        return ()
    if filter == "mean":
        return (1 / (hops + 1),) * (hops + 1)
    if filter == "hops":
        return Blocks((1.0,) * (hops + 1))
    if kind != "appnp":
        raise ValueError(
            f"filter is {filter!r}, expected {either(FILTERS)}{did_you_mean(kind, ('sgc', 'appnp', 'mean', 'hops'))}"
        )
    try:
        alpha = float(parameter)
    except ValueError:
        alpha = nan
    if not 0 < alpha < 1:
        raise ValueError(f"filter is {filter!r}, expected appnp:ALPHA with ALPHA between 0 and 1, such as appnp:0.1")
    theta = (*(alpha * (1 - alpha) ** j for j in range(hops)), (1 - alpha) ** hops)
    if min(theta) < SMALLEST:
        raise ValueError(
            f"filter is {filter!r}, which gives a power the weight {min(theta):.2g}, expected at least {SMALLEST:g}: "
            "choose an ALPHA that is further from 0 and 1"
        )
    return theta


def filter_name(filter: str) -> str:
    """The name of a filter, with its parameter as Python writes it, so that one filter has one name."""
    kind, colon, parameter = filter.partition(":")
    return f"{kind}:{float(parameter)!r}" if colon else kind


def check_weights(name: str, theta: Sequence[float], hops: int) -> tuple[float, ...]:
    """The weights of the powers 0 to `hops` as a tuple of floats, after checking them; () for the last power alone."""
    if not isinstance(theta, (Sequence, np.ndarray)) or isinstance(theta, str):
        raise ValueError(f"{name} is {theta!r}, expected a list of {hops + 1} numbers, for the powers 0 to {hops}")
    if len(theta) != hops + 1:
        raise ValueError(f"{name} has {len(theta)} weights, expected {hops + 1}, for the powers 0 to {hops}")
    weights = tuple(number(name, weight, zero=True) for weight in theta)
    if any(0 < weight < SMALLEST or weight > 1 / SMALLEST for weight in weights):
        raise ValueError(
            f"{name} is {list(weights)}, expected weights that are 0 or from {SMALLEST:g} to {1 / SMALLEST:g}"
        )
    if not any(weights):
        raise ValueError(f"{name} has no weight above 0: give at least one")
    return () if weights == (*[0.0] * hops, 1.0) else weights
