"""Judgments and results of Elasticsearch, OpenSearch, Quepid and Vespa: their files and JSON objects, without a server.

1. `json_values` reads a file, and says where in it a value is that cannot be used.
2. `judgment_lists` reads judgments: requests of ``_rank_eval``, OpenSearch's judgment lists, Quepid's exports.
3. `responses` reads runs: responses of ``_rank_eval``, ``_search`` and ``_msearch``, and results of Vespa.
"""

from __future__ import annotations

from tieaware.integrations.search_engines.judgment_lists import read_judgments
from tieaware.integrations.search_engines.responses import read_results

__all__ = ["read_judgments", "read_results"]
