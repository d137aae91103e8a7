"""The mean of a measure over the orders that noise makes of a list, each with its chance.

The scores are independent random numbers, so any order is possible. The chance of an order is a nested integral:
the document in last place is at most x with the chance F(x), the two last ones are in order and at most x with the
chance ∫ f(t) F(t) dt up to x, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from tieaware.precision import Gaussian, Gumbel, Noise, Uniform

# The number of nodes between two breaks. At these, a smooth density is known to the last digits.
_N_NODES = 20

Array = npt.NDArray[np.float64]


class Place(NamedTuple):
    """Where a document may be.

    Attributes
    ----------
    density : callable
        The density of its score.
    breaks : list of float
        The numbers between which the density is smooth, ascending; beyond them, it is negligible.
    """

    density: Callable[[float], float]
    breaks: list[float]


def places(scores: Sequence[float], noise: Noise) -> list[Place]:
    """Return where each document is under noise.

    Parameters
    ----------
    scores : sequence of float
    noise : Noise
        Its sizes are above 0.

    Examples
    --------
    >>> from tieaware.precision import Uniform
    >>> places([2.0], Uniform(1))[0].breaks
    [1.0, 3.0]
    """
    sizes = np.broadcast_to(noise.sizes, len(scores)).tolist()
    of_noise, breaks = _DENSITIES[type(noise)]

    def place(score: float, size: float) -> Place:
        return Place(lambda x: of_noise((x - score) / size) / size, [score + size * z for z in breaks])

    return [place(*each) for each in zip(scores, sizes, strict=True)]


def chances_of_orders(documents: Sequence[Place]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield each order of some documents, from the first rank to the last, and its chance.

    Parameters
    ----------
    documents : sequence of Place

    Examples
    --------
    >>> from tieaware.precision import Uniform
    >>> [(order, round(chance, 6)) for order, chance in chances_of_orders(places([2.0, 1.0], Uniform(1)))]
    [((1, 0), 0.125), ((0, 1), 0.875)]
    """
    breaks = sorted({each for document in documents for each in document.breaks})
    unit, weights = legendre.leggauss(_N_NODES)
    halves = np.array([(right - left) / 2 for left, right in pairwise(breaks)])
    nodes = [[left + half * (1 + z) for z in unit] for left, half in zip(breaks, halves.tolist(), strict=False)]
    densities = [np.array([[_density(document, x) for x in piece] for piece in nodes]) for document in documents]
    up_to_nodes = _integrals_up_to(unit)

    def orders(below: tuple[int, ...], chance: Array) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield the orders that end with `below`; `chance` is that of these documents in this order and below x."""
        for d in range(len(documents)):
            if d not in below:
                pieces = halves * ((densities[d] * chance) @ weights)
                if len(below) == len(documents) - 1:
                    yield (d, *below), float(pieces.sum())
                else:
                    before = np.concatenate(([0.0], np.cumsum(pieces)[:-1]))
                    within = halves[:, None] * ((densities[d] * chance) @ up_to_nodes.T)
                    yield from orders((d, *below), before[:, None] + within)

    return orders((), np.ones((len(halves), _N_NODES)))


def _density(document: Place, x: float) -> float:
    return document.density(x) if document.breaks[0] < x < document.breaks[-1] else 0.0


def _integrals_up_to(nodes: Array) -> Array:
    """Return the matrix that turns the values of a polynomial at nodes into its integrals from -1 to each node."""
    values = legendre.legvander(nodes, len(nodes))
    m = np.arange(1, len(nodes))
    integrals = np.column_stack([nodes + 1, (values[:, 2:] - values[:, :-2]) / (2 * m + 1)])
    return integrals @ np.linalg.inv(values[:, :-1])


def _of_gaussian(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _of_gumbel(z: float) -> float:
    return math.exp(-z - math.exp(-z))


def _of_uniform(z: float) -> float:
    return 0.5


# The density of noise of size 1, and the breaks between which it is nearly a polynomial.
_DENSITIES: dict[type[Noise], tuple[Callable[[float], float], Sequence[float]]] = {
    Gaussian: (_of_gaussian, range(-9, 10)),
    Gumbel: (_of_gumbel, [-4, -3, -2.5, -2, -1.5, *range(-1, 41)]),
    Uniform: (_of_uniform, (-1, 1)),
}
