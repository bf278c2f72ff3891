"""What a batch's labels say, by small cases worked out by hand; the page; the files."""

import csv
import io
import json
from datetime import date

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from apps.labels import actions, result_queries, results
from apps.labels.label_files import to_csv, to_jsonl
from apps.labels.models import Label, Pair, SampleBatch
from apps.labels.results import Answer, FrameCount, LabelledRow
from apps.runs.models import ToolError
from tests.factories import failing, ingest, make_member, make_run

WEEK = date(2026, 11, 16)
ANSWER = {"branch": "none", "move": "retried_unchanged", "was_right": "no", "note": ""}
RIGHTS = [("yes", "Yes"), ("no", "No"), ("cannot_tell", "Cannot tell")]
MOVES = [("answered", "Went on"), ("apologised", "Apologised")]


def said(
    right: str = "yes", move: str = "answered", branch: str = "none", by: str = "ann"
) -> Answer:
    return Answer(by, branch, move, right)


def row(*answers: Answer, pk: int = 1, **changes) -> LabelledRow:
    fields = {
        "id": pk,
        "position": pk,
        "code_id": 1,
        "code": "pay.no",
        "link": (1, 0, 0, 0),
        "stratum": 0,
        "errors_in_run": 1,
        "chance": 0.2,
        "machine_move": "answered",
        "machine_says_no_branch": True,
        "answers": answers,
    }
    return LabelledRow(**{**fields, **changes})


def labels_share(rows, sizes, question=results.RIGHT, code_id=None) -> float:
    share = results.share_of(question, rows, sizes, [], code_id).labels
    assert share is not None
    return share.value


def test_a_label_speaks_for_the_errors_of_its_run_and_stratum():
    """Stratum 0: 2 of 10 runs drawn, 1: 1 of 4, whose run had 3 errors.

    Right: 5 errors of stratum 0; all: 10 + 12. 5 / 22.
    """
    rows = [
        row(said("yes")),
        row(said("no"), pk=2),
        row(said("no"), pk=3, stratum=1, errors_in_run=3),
    ]

    assert labels_share(rows, {0: 10, 1: 4}) == pytest.approx(5 / 22)


def test_two_who_differ_count_half_each_and_cannot_tell_is_no_answer():
    rows = [
        row(said("yes"), said("no", by="bob")),
        row(said("cannot_tell"), said("yes", by="bob"), pk=2),
        row(said("cannot_tell"), pk=3),
    ]

    share = results.share_of(results.RIGHT, rows, {0: 10}, []).labels

    assert share is not None
    assert (share.value, share.n) == (0.75, 2)


def test_one_code_has_only_its_own_labels():
    rows = [row(said("yes")), row(said("no"), pk=2, code_id=2)]

    assert labels_share(rows, {0: 10}, code_id=1) == 1.0
    assert results.share_of(results.RIGHT, rows, {0: 10}, [], 3).labels is None


def test_a_machine_that_is_right_on_every_label_is_taken_at_its_word():
    rows = [
        row(
            said(move="answered" if n < 15 else "apologised"),
            pk=n,
            machine_move="answered" if n < 15 else "apologised",
        )
        for n in range(30)
    ]
    frame = [FrameCount(1, "answered", True, 30), FrameCount(1, "apologised", True, 70)]

    share = results.share_of(
        results.move_question("answered", "Went on"), rows, {0: 100}, frame
    )

    assert share.powered is not None
    assert share.powered.value == pytest.approx(0.3)
    assert share.powered.weight == 1.0
    assert share.labels is not None
    assert share.labels.value == pytest.approx(0.5)


def test_a_cannot_tell_or_few_labels_leave_the_machine_out():
    frame = [FrameCount(1, "answered", True, 100)]
    whole = [row(said("yes" if n % 2 else "no"), pk=n) for n in range(30)]
    doubtful = [*whole, row(said("cannot_tell"), pk=31)]

    def powered(rows: list[LabelledRow]) -> bool:
        share = results.share_of(results.RIGHT, rows, {0: 100}, frame)
        return share.powered is not None

    assert powered(whole)
    assert not powered(doubtful)
    assert not powered(whole[:29])


def test_codes_have_shares_from_ten_labels_on():
    rows = [row(said(), pk=n) for n in range(10)]
    rows += [row(said(), pk=n, code_id=2, code="few") for n in range(10, 19)]

    found = results.shares_by_code(rows, {0: 100}, [])

    assert [(c.code, c.n) for c in found] == [("pay.no", 10)]
    assert [s.question.name for s in found[0].shares] == ["right", "no_branch"]


def test_the_quality_of_the_machine_weighs_pairs_by_their_chance():
    """People: two went on (weights 5 and 10), one apologised (5), one is disputed.

    The machine says "answered" to the first and the third: it finds 5 of 15, and
    leaves 0 of 5 alone.
    """
    rows = [
        row(said()),
        row(said(), pk=2, chance=0.1, machine_move="apologised"),
        row(said(move="apologised"), pk=3),
        row(said(), said(move="apologised", by="bob"), pk=4),
    ]

    found = {m.label: m.quality for m in results.move_quality(rows, MOVES)}

    quality = found["Went on"]
    assert quality.sensitivity.rate == pytest.approx(1 / 3)
    assert (quality.sensitivity.n, quality.specificity.n) == (2, 1)
    assert quality.specificity.rate == 0.0


def test_agreement_of_two_on_four_pairs():
    """yes/yes, no/no, yes/no, yes/yes: raw 3/4, chance 3/4·1/2 + 1/4·1/2 = 1/2."""
    given = [("yes", "yes"), ("no", "no"), ("yes", "no"), ("yes", "yes")]
    rows = [row(said(a), said(b, by="bob"), pk=n) for n, (a, b) in enumerate(given)]

    found = results.question_agreement(rows, "was_right", "Right", RIGHTS)

    assert (found.found.n, found.found.raw_agreement) == (4, 0.75)
    assert found.found.kappa is not None
    assert found.found.kappa.kappa == pytest.approx(0.5)
    # 8 values, 5 yes: observed 2 of 8 differ, expected 2·5·3/(8·7); 1 - 7·2/30
    assert found.found.alpha == pytest.approx(1 - 7 * 2 / 30)
    # shares 5/8, 3/8, 0 of three choices: chance (2·15/64)/2; (.75 - 15/64)/(1 - 15/64)
    assert found.found.ac1 == pytest.approx((0.75 - 15 / 64) / (1 - 15 / 64))
    assert found.reviewers == ("ann", "bob")
    assert [(m.label, m.shares) for m in found.marginals] == [
        ("Yes", (0.75, 0.5)),
        ("No", (0.25, 0.5)),
    ]


def test_all_alike_is_no_variation_and_a_single_label_no_data():
    alike = [row(said(), said(by="bob"), pk=n) for n in range(3)]

    found = results.question_agreement(alike, "was_right", "Right", RIGHTS).found
    alone = results.question_agreement([row(said())], "was_right", "Right", RIGHTS)

    assert found.kappa is not None
    assert {found.kappa.kappa, found.alpha, found.ac1} == {"no variation"}
    assert (alone.found.alpha, alone.found.n) == ("no data", 0)


def test_disagreements_name_question_and_answers_but_no_person():
    rows = [
        row(said("no"), said("yes", by="bob")),
        row(said(), said(by="bob"), pk=2),
        row(said("no"), pk=3),
    ]

    found = results.disagreements(rows, [("was_right", "Right", dict(RIGHTS))])

    assert [(d.row.id, d.differing) for d in found] == [
        (1, (("Right", ("Yes", "No")),))
    ]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_is_safe_from_formulas_and_jsonl_true(start):
    rows = [{"note": f'{start}cmd|"x"\n é', "chance": -0.5}]

    table = list(csv.reader(io.StringIO(to_csv(rows, ["note", "chance"]), newline="")))

    assert table == [["note", "chance"], [f"'{rows[0]['note']}", "-0.5"]]
    assert [json.loads(line) for line in to_jsonl(rows).splitlines()] == rows


@pytest.fixture
def batch(workspace) -> SampleBatch:
    error = failing("pay", {"n": 1}, "Error: no")
    runs = [
        make_run(f"r{n}", [error, error], started_at="2026-11-17T10:00:00Z")
        for n in range(60)
    ]
    ingest(workspace, *runs)
    return actions.draw_weekly_batch(workspace, week=WEEK, seed=3, size=40)


def label_all(batch: SampleBatch, *people, **answers: str) -> None:
    for pair in batch.pairs.all():
        for person in people[: pair.reviews_wanted]:
            actions.set_label(pair, reviewer=person, **{**ANSWER, **answers})


def test_a_drawn_pair_keeps_its_stratum_and_the_errors_of_its_run(batch):
    pairs = list(batch.pairs.all())
    sizes = {pair.stratum_number: pair.stratum_size for pair in pairs}

    assert sum(sizes.values()) == batch.frame_runs == 60
    assert {pair.errors_in_run for pair in pairs} == {2}
    for pair in pairs:
        chance = pair.stratum_drawn / pair.stratum_size / pair.errors_in_run
        assert pair.chance == pytest.approx(chance)
        same = [p for p in pairs if p.stratum_number == pair.stratum_number]
        assert len(same) == pair.stratum_drawn


def test_a_stratum_is_no_smaller_than_what_was_drawn(batch):
    with pytest.raises(IntegrityError), transaction.atomic():
        Pair.objects.filter(batch=batch).update(stratum_size=0)


def test_the_page_shows_shares_agreement_and_the_machine(
    client, batch, owner, workspace
):
    second = make_member(workspace)
    label_all(batch, owner, second)
    double = batch.pairs.filter(reviews_wanted=2).order_by("position").first()
    actions.set_label(double, reviewer=second, **{**ANSWER, "was_right": "yes"})

    page = client.get(reverse("labels:results"))

    found = page.context["r"]
    assert (found.pairs, found.labelled, found.doubles) == (40, 40, 8)
    assert (found.frame_errors, batch.frame_errors) == (120, 120)
    shares = {s.question.name: s for s in found.shares}
    assert shares["no_branch"].labels.value == 1.0
    runs = double.stratum_size / double.stratum_drawn  # that the pair speaks for
    assert shares["right"].labels.value == pytest.approx(0.5 * runs / 60)
    assert shares["right"].powered is not None
    assert [d.row.id for d in found.disagreements] == [double.pk]
    error = ToolError.objects.get(pk=double.error_id)
    body = page.content.decode()
    assert f'#t{error.turn}c{error.call}">pair {double.position}<' in body
    assert "no variation" in body


@pytest.mark.parametrize("labelled", [5, 40])
def test_the_page_takes_as_many_queries_for_forty_pairs_as_for_five(
    client, batch, owner, labelled, django_assert_max_num_queries
):
    for pair in batch.pairs.order_by("position")[:labelled]:
        actions.set_label(pair, reviewer=owner, **ANSWER)

    with django_assert_max_num_queries(16):
        client.get(reverse("labels:results"))


def test_the_page_without_labels_week_or_batch_says_so(client, stranger, batch):
    def shown(who, query=""):
        return who.get(reverse("labels:results") + query).content.decode()

    assert "No label yet" in shown(client)
    assert "No label yet" in shown(client, "?week=2026-11-18")
    assert "No batch of this week" in shown(client, "?week=2026-11-09")
    assert "No batch of this week" in shown(client, "?week=dance")
    assert "No batch drawn yet" in shown(stranger)


def test_a_batch_drawn_before_sizes_were_kept_gives_no_shares(client, batch, owner):
    Pair.objects.update(stratum_size=0, stratum_drawn=0, errors_in_run=0)
    label_all(batch, owner)

    page = client.get(reverse("labels:results"))

    assert page.context["r"].shares == []
    assert "before Errata kept" in page.content.decode()


def test_a_label_outlives_its_error(client, batch, owner):
    label_all(batch, owner)
    first = batch.pairs.order_by("position").first()
    ToolError.objects.filter(pk=first.error_id)._raw_delete("default")

    page = client.get(reverse("labels:results"))
    rows = client.get(reverse("labels:export-jsonl")).content.decode().splitlines()

    assert page.context["r"].labelled == 40
    assert json.loads(rows[0])["code"] == ""


def test_the_files_hold_every_label(client, stranger, batch, owner):
    label_all(batch, owner, note="=1+1")
    first = batch.pairs.order_by("position").first()
    actions.set_label(first, reviewer=owner, **ANSWER)

    lines = client.get(reverse("labels:export-jsonl")).content.decode().splitlines()
    table = client.get(reverse("labels:export-csv") + "?week=2026-11-16")

    rows = [json.loads(line) for line in lines]
    assert len(rows) == Label.objects.count() == 41
    assert [(r["note"], r["is_current"]) for r in rows[:2]] == [
        ("=1+1", False),
        ("", True),
    ]
    assert rows[0]["chance"] == first.chance
    cells = list(csv.DictReader(io.StringIO(table.content.decode(), newline="")))
    assert [cell["note"] for cell in cells[:2]] == ["'=1+1", ""]
    assert list(cells[0]) == list(rows[0])
    assert 'filename="labels-2026-11-16.csv"' in table["Content-Disposition"]
    assert stranger.get(reverse("labels:export-csv")).status_code == 404


def test_people_of_one_name_are_told_apart(batch, owner, workspace):
    twin = make_member(workspace)
    type(owner).objects.update(first_name="Kim", last_name="Lee")
    label_all(batch, owner, twin)

    found = result_queries.results_of(batch).agreement[0]

    assert found.reviewers == tuple(sorted([owner.email, twin.email]))
