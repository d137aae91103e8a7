"""One module per tool that people already use: change one line, and it runs on tieaware.

=========================  ===========================================================================================
``ir_measures``            ``install()`` puts tieaware first among its providers, which PyTerrier evaluates with
``pytrec_eval``            takes the place of ``import pytrec_eval``
``beir``                   takes the place of beir's ``EvaluateRetrieval``
``mteb``                   ``install()`` puts tie-aware functions in the place of mteb's
``sentence_transformers``  has its reranking and information-retrieval evaluators
``lightgbm``               ``metric`` is for ``feval`` and ``eval_metric``
``xgboost``                ``metric`` is for ``custom_metric``
``sklearn``                ``scorer`` is for ``scoring``: it takes the documents of every query as a list
``link_prediction``        takes the place of ``ogb.linkproppred.Evaluator``
``spark``                  ``evaluate`` takes frames of Spark
=========================  ===========================================================================================

Nothing of it is imported by ``import tieaware``; a module whose tool is missing says which extra installs it.
"""
