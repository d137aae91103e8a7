"""One module for each tool that tieaware works with.

=========================  ===========================================================================================
``ir_measures``            ``install()`` makes tieaware the first provider of ir_measures, and so of PyTerrier
``pytrec_eval``            replaces ``import pytrec_eval``
``beir``                   ``EvaluateRetrieval`` replaces the class of beir
``mteb``                   ``install()`` replaces the functions with which mteb computes its metrics
``sentence_transformers``  replacements of its evaluators for reranking and information retrieval
``lightgbm``               ``metric`` for the parameters ``feval`` and ``eval_metric``
``xgboost``                ``metric`` for the parameter ``custom_metric``
``sklearn``                ``scorer`` for the parameter ``scoring``: each query is a list
``elliot``                 recommendations and test data from the files of Elliot
``recbole``                ``evaluate`` for the trainers of RecBole
``lenskit``                ``metric`` for LensKit's ``RunAnalysis``
``cornac``                 ``metric`` for the ``metrics`` of Cornac's experiments
``link_prediction``        ``Evaluator`` replaces ``ogb.linkproppred.Evaluator``
``nearest_neighbours``     ``recall`` of nearest-neighbour search, from arrays and the files of its benchmarks
``polars``                 ``install()`` adds ``frame.tieaware.evaluate(qrels, measures)`` to the frames of polars
``llama_index``            ``metric`` for any measure, and the ``RetrieverEvaluator`` that tells it the scores
``haystack``               ``RankingEvaluator``, a component for any measure
``ragas``                  ``metric`` for any measure, in the form of ragas' own metrics
``deepeval``               ``metric`` for any measure, for ``deepeval.evaluate`` and ``assert_test``
``retrieved_contexts``     ``evaluate`` for the contexts of one question, in metrics of other RAG evaluators
``search_engines``         judgments and results of Elasticsearch, OpenSearch, Quepid and Vespa
``torchmetrics``           ``RankingMetric``, a ``torchmetrics.Metric`` for training loops and Lightning
``spark``                  ``evaluate`` and ``means`` for data frames of Spark
=========================  ===========================================================================================

``import tieaware`` imports none of these modules. A module whose tool is not installed raises an error that
names the extra to install.
"""
