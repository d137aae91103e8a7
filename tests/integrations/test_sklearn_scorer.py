"""Scorers for the installed scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
import xgboost
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.tree import DecisionTreeRegressor
from support.errors import message_of

from tieaware import Evaluator, InputError
from tieaware.integrations.sklearn import scorer


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def rows():
    """Return features, labels and queries of 240 documents in twenty lists. The rows of a list are not contiguous."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 240)
    return rng.normal(size=(240, 2)) + labels[:, None], labels, 10 * rng.integers(0, 20, 240)


def expected_mean(measure, labels, scores, query):
    order = np.argsort(query, kind="stable")
    return Evaluator(labels[order], measure, qid=query[order]).mean(scores[order])[0]


def test_a_search_evaluates_each_query_as_a_list(rows):
    X, y, query = rows
    depths, cv = [1, 3], GroupKFold(3)
    model = DecisionTreeRegressor(random_state=0)
    search = GridSearchCV(model, {"max_depth": depths}, scoring=scorer("nDCG@5"), cv=cv, error_score="raise")
    search.fit(X, y, groups=query)
    for i, depth in enumerate(depths):
        for fold, (train, test) in enumerate(cv.split(X, y, query)):
            scores = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X[train], y[train]).predict(X[test])
            expected = expected_mean("nDCG@5", y[test], scores, query[test])
            assert search.cv_results_[f"split{fold}_test_score"][i] == expected


def test_several_pickled_scorers(rows):
    """The scorer of ESL returns negative values, because a lower ESL is better and scikit-learn maximises.

    A classifier is evaluated by its decision function, not by its predicted classes.
    """
    X, y, query = rows
    measures = ("AP", "ESL")
    scoring = {name: scorer(name).set_score_request(qid="query") for name in measures}
    model, cv = LogisticRegression(), KFold(2)
    found = cross_validate(
        model, X, y, scoring=pickle.loads(pickle.dumps(scoring)), cv=cv, params={"query": query}, error_score="raise"
    )
    for fold, (train, test) in enumerate(cv.split(X)):
        scores = model.fit(X[train], y[train]).decision_function(X[test])
        expected = [expected_mean(name, y[test], scores, query[test]) for name in measures]
        assert [found["test_AP"][fold], -found["test_ESL"][fold]] == expected


def test_a_ranker_may_request_the_queries_too(rows):
    """Metadata routing passes the queries to the scorer and to XGBRanker, whose rows must be sorted by query."""
    X, y, query = (each[np.argsort(rows[2], kind="stable")] for each in rows)
    ranker = xgboost.XGBRanker(n_estimators=2, n_jobs=1).set_fit_request(qid="groups")
    search = GridSearchCV(ranker, {"max_depth": [1, 2]}, scoring=scorer("RR"), cv=GroupKFold(2), error_score="raise")
    assert 0 < search.fit(X, y, groups=query).best_score_ <= 1


def test_missing_queries_are_an_error(rows):
    X, y, query = rows
    model = DecisionTreeRegressor().fit(X, y)
    assert "qid: the query of each document is missing; pass groups=" in message_of(scorer("AP"), model, X, y)
    with pytest.raises(InputError, match=r"qid: expected shape \(240,\), a query for each document, found shape"):
        scorer("AP")(model, X, y, qid=[80, 80, 80])
    search = GridSearchCV(model, {"max_depth": [1]}, scoring=scorer("AP"), cv=KFold(2), error_score="raise")
    assert "qid: the query of each document is missing" in message_of(search.fit, X, y)
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        search.set_params(cv=GroupKFold(2)).fit(X, y)
    with pytest.raises(UnsetMetadataPassedError):
        search.set_params(scoring=scorer("AP").set_score_request(qid=None), cv=KFold(2)).fit(X, y, qid=query)
    # A caller who wants a single list must pass one query id for all documents.
    assert scorer("AP")(model, X, y, qid=np.zeros(240)) == Evaluator(y, "AP").mean(model.predict(X))[0]


def test_options_and_errors(rows):
    X, y, query = rows
    model = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y)
    rules = ("pessimistic", "average", "optimistic")
    worst, average, best = (scorer("AP", ties=rule)(model, X, y, qid=query) for rule in rules)
    assert worst < average < best
    assert repr(scorer("nDCG@10")).startswith("make_scorer(nDCG@10")
    assert "docids: is required by the tie rule" in message_of(scorer, "AP", ties="trec_eval")
    sklearn.set_config(enable_metadata_routing=False)
    assert "enable_metadata_routing=True" in message_of(scorer, "AP")
