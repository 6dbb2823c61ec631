"""Ranks run where a process map says, or the check fails in words."""

import pytest


@pytest.fixture
def outcome(reframe):
    """Why each misplaced check failed, by name and map; None for the one that passed."""
    session = reframe("-r", "-p", "openmpi", checks="tests/checks/misplaced.py")
    return {
        (case["unique_name"].partition("_")[0], case.get("process_map")): case["fail_reason"]
        for case in session.testcases
        if case.get("process_map")
    }


def test_a_map_is_followed_or_the_check_says_why_not(outcome):
    assert not outcome["Followed", "ABB"]
    disobeyed = outcome["Disobeyed", "ABA"]
    assert "asked for the process map ABA, but ranks ran on AAB (A is " in disobeyed
    assert (
        "process map 'ABC' needs 3 node(s), but placement 'two_nodes_one_host' (two nodes under "
        "the bridge of one host) has 2" in outcome["Impossible", "ABC"]
    )
    assert "'ACB' is not a process map: give each rank a letter" in outcome["Impossible", "ACB"]
