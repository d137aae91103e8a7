"""Inexact retrieval: the classic ways in which search engines save work, on a small index in memory.

An `Index` is built once. A method, such as `Champions`, searches it and gives a `tieaware.Run`: scores and ties as the
method makes them. `tieaware.experiments.inexact` measures what each method saves, and what it loses.
"""

from tieaware.retrieval.analysis import Analyzer
from tieaware.retrieval.band_safe import BandSafe
from tieaware.retrieval.champions import Champions
from tieaware.retrieval.clusters import ClusterPruning
from tieaware.retrieval.collections import read_documents, read_judgments, read_quality
from tieaware.retrieval.elimination import AtLeast, HighIdf
from tieaware.retrieval.exact import Exact, MaxScore
from tieaware.retrieval.feedback import RM3, BlindFeedback, Thesaurus, ide_dec_hi, rocchio
from tieaware.retrieval.impact_order import ImpactOrdered
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.index_file import is_index_file
from tieaware.retrieval.method import Costs, Method, parse_method
from tieaware.retrieval.proximity import Proximity, learn_alpha, smallest_windows
from tieaware.retrieval.query_language import parse_query
from tieaware.retrieval.static_quality import ExactNetScore, GlobalChampions, HighLow, NetScore
from tieaware.retrieval.tiers import Tiers
from tieaware.retrieval.topics import read_topics
from tieaware.retrieval.wand import WAND, BlockMaxWAND
from tieaware.retrieval.zones import WeightedZones, ZoneWeight, learn_zone_weight, zone_matches, zone_scores

__all__ = [
    "RM3",
    "WAND",
    "Analyzer",
    "AtLeast",
    "BandSafe",
    "BlindFeedback",
    "BlockMaxWAND",
    "Champions",
    "ClusterPruning",
    "Costs",
    "Exact",
    "ExactNetScore",
    "GlobalChampions",
    "HighIdf",
    "HighLow",
    "ImpactOrdered",
    "Index",
    "MaxScore",
    "Method",
    "NetScore",
    "Proximity",
    "Query",
    "Thesaurus",
    "Tiers",
    "WeightedZones",
    "ZoneWeight",
    "ide_dec_hi",
    "is_index_file",
    "learn_alpha",
    "learn_zone_weight",
    "parse_method",
    "parse_query",
    "read_documents",
    "read_judgments",
    "read_quality",
    "read_topics",
    "rocchio",
    "smallest_windows",
    "zone_matches",
    "zone_scores",
]


def __dir__() -> list[str]:
    return __all__
