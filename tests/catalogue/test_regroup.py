"""Stage 2: which words are values, and that no order or count changes a group."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.fingerprints.v1 import fingerprint
from apps.catalogue.regroup import Item, Regrouping, regroup

TABLES = ("orders", "invoices", "events", "users", "tickets")


def items_of(texts: Iterable[str], tool: str = "t") -> list[Item]:
    """Items as the catalogue counts them."""
    prints = [fingerprint(tool, text) for text in texts]
    return [Item(tool, p.key, p.masked, 1, p.structured_code) for p in prints]


def templates(texts: Iterable[str]) -> list[str]:
    return sorted(group.template for group in regroup(items_of(texts)).groups)


# (texts, templates of the groups they become)
CASES = [
    # four plain words at one place
    ([f"relation {t} is locked" for t in TABLES], ["relation <*> is locked"]),
    # two places, found one after the other
    (
        [
            f"Column {c} does not exist in {t}."
            for c in ("sku", "plan", "note", "size")
            for t in TABLES
        ],
        ["Column <*> does not exist in <*>."],
    ),
    # names that people gave to things: two are enough
    (["Unknown tool: get_stok", "Unknown tool: get_ordr"], ["Unknown tool: <*>"]),
    # one and many of a word
    (
        ["Patch failed: 1 match in it", "Patch failed: 2 matches in it"],
        ["Patch failed: <num> <*> in it"],
    ),
    # short capitals name things: currencies, airports
    (
        [f"Currency {c} is not supported" for c in ("USD", "EUR", "CHF", "XAU")],
        ["Currency <*> is not supported"],
    ),
    # two places that vary together
    (
        [
            "No flights from JFK to LHR found",
            "No flights from SFO to NRT found",
            "No flights from BER to CDG found",
            "No flights from MUC to FCO found",
        ],
        ["No flights from <*> to <*> found"],
    ),
    # values of another kind, and one that is missing
    (["bad token 17", "bad token 9f3a01b", "bad token 'x'"], ["bad token <*>"]),
    (
        ["call from 10.0.0.1 () at noon", "call from 10.0.0.1 (a.example.com) at noon"],
        ["call from <ip> () at noon"],
    ),
    (
        ["Payment method card_12 not found", "Payment method voucher_77 not found"],
        ["Payment method <*> not found"],
    ),
]

# Texts that look alike and are different failures: each stays its own.
APART = [
    # too few words to be sure
    ["rows of orders are locked", "rows of users are locked"],
    # states and failures
    [
        f"The order is {s} and stays so"
        for s in ("paid", "shipped", "expired", "locked")
    ],
    [f"Request failed: {s}" for s in ("timeout", "forbidden", "conflict", "not_found")],
    [f"Task moved to {s} by itself" for s in ("NEW", "DONE", "LOST", "IDLE", "GONE")],
    # the sense turned round
    ["The file is now open", "The file is not open"],
    # another advice
    [f"It failed. Call {t} instead." for t in ("get_a", "get_b", "get_c", "get_d")],
    # exceptions
    [f"{e}: no answer from the server" for e in ("IOError", "KeyError", "MyException")],
    # one says more
    ["Request timed out after 3 s", "Request timed out after 3 s waiting for a reply"],
    # nothing stays
    ["normal", "warning", "running", "critical", "blocked"],
    # statuses
    ["HTTP 404 from the server", "HTTP 500 from the server"],
]


@pytest.mark.parametrize(("texts", "wanted"), CASES)
def test_regroup_folds_words_that_vary(texts, wanted):
    assert templates(texts) == wanted


# (texts, groups wanted, groups found): each is a wish, none a promise.
KNOWN_WRONG = [
    # names of one word and of two have another number of tokens
    (["Customer Ann Lee is not found", "Customer Bob is not found"], 1, 2),
    # users are values, but three may be three cases: suggested
    ([f"login of {u} was refused" for u in ("ann", "bob", "eve")], 1, 3),
    # the field's name is a word like "limit" that often names a failure
    ([f"Bad request: check {w}" for w in ("limit", "quota", "read", "full")], 1, 4),
    # four ways to fail, none of them a word for a failure
    (
        [f"The tool is {w} for now" for w in ("tired", "moody", "wobbly", "sleepy")],
        4,
        1,
    ),
]


@pytest.mark.parametrize(("texts", "wanted", "actual"), KNOWN_WRONG)
def test_regroup_known_wrong_answers(texts, wanted, actual):
    assert wanted != actual
    assert len(templates(texts)) == actual


@pytest.mark.parametrize("texts", APART)
def test_regroup_keeps_failures_apart(texts):
    assert len(templates(texts)) == len(texts)


def test_regroup_says_why_it_folded():
    (group,) = regroup(items_of(f"relation {t} is locked" for t in TABLES)).groups

    assert group.reasons == (
        "5 different words at one place: events, invoices, orders, …",
    )
    assert group.count == 5


def test_regroup_suggests_what_it_does_not_fold():
    found = regroup(items_of(f"rows of {t} are locked" for t in TABLES[:2]))

    (suggestion,) = found.suggestions
    assert suggestion.reason == "2 different words at one place: invoices, orders"
    assert suggestion.keys == tuple(group.key for group in found.groups)


def test_regroup_takes_evidence_from_all_tools_and_joins_within_one():
    items = [
        item
        for at, table in enumerate(TABLES)
        for item in items_of([f"relation {table} is locked"], tool=f"tool{at // 2}")
    ]

    groups = regroup(items).groups

    assert [(g.tool, len(g.members)) for g in groups] == [
        ("tool0", 2),
        ("tool1", 2),
        ("tool2", 1),
    ]


def test_regroup_never_folds_a_structured_code():
    texts = [
        f'{{"error": {{"code": "E_{t}", "message": "relation {t} is locked"}}}}'
        for t in TABLES
    ]

    assert len(regroup(items_of(texts)).groups) == len(TABLES)


def test_regroup_counts_one_key_with_two_texts_once():
    texts = [
        '{"error": {"code": "FARE_EXPIRED", "message": "Old."}}',
        '{"error": {"code": "FARE_EXPIRED", "message": "New words."}}',
        '{"error": {"code": "FARE_EXPIRED", "message": "New words."}}',
    ]

    (group,) = regroup(items_of(texts)).groups

    assert (group.count, group.template) == (3, "New words.")


WORDS = st.sampled_from(
    [
        *(
            "orders",
            "users",
            "plan",
            "sku",
            "is",
            "not",
            "failed",
            "locked",
            "NEW",
            "DONE",
        ),
        *(
            "<num>",
            "<id>",
            "order_id",
            "a.b",
            "(<ip>)",
            "()",
            "[<num>]",
            "true",
            "false",
        ),
        *(
            ":",
            ".",
            ",",
            "the",
            "table",
            "relation",
            "for",
            "user",
            "call",
            "to",
            "404",
        ),
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=7).map(" ".join)
ITEMS = st.lists(
    st.builds(
        lambda tool, masked, count: Item(tool, f"{tool}:{masked}", masked, count),
        st.sampled_from(["a", "b"]),
        TEXTS,
        st.integers(1, 3),
    ),
    max_size=40,
)


def _shape(found: Regrouping) -> list[tuple[object, ...]]:
    return [(g.tool, g.key, g.template, g.members, g.reasons) for g in found.groups]


@given(ITEMS, st.randoms(use_true_random=False))
def test_regroup_does_not_depend_on_order(items, random):
    shuffled = list(items)
    random.shuffle(shuffled)

    assert regroup(shuffled) == regroup(items)


@given(ITEMS, st.integers(0, 40))
def test_regroup_does_not_depend_on_how_the_items_were_batched(items, cut):
    """Two workers counted parts of the errors; or one counted them one by one."""
    one_by_one = [
        Item(item.tool, item.key, item.masked)
        for item in items
        for _ in range(item.count)
    ]

    assert regroup(items[cut:] + items[:cut]) == regroup(one_by_one)


@given(ITEMS)
def test_regroup_puts_every_fingerprint_in_exactly_one_group(items):
    found = regroup(items)

    members = [(g.tool, member) for g in found.groups for member in g.members]
    assert sorted(members) == sorted({(item.tool, item.key) for item in items})
    assert sum(g.count for g in found.groups) == sum(item.count for item in items)
    assert all(g.key == min(g.members) for g in found.groups)


@given(ITEMS)
def test_regroup_gives_the_same_groups_however_often_each_was_counted(items):
    once = list(
        {(i.tool, i.key): Item(i.tool, i.key, i.masked) for i in items}.values()
    )

    assert _shape(regroup(items)) == _shape(regroup(once))
