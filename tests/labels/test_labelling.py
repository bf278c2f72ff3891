"""The batch, the queue, and what a label does."""

from datetime import date

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.labels import actions, queries
from apps.labels.forms import LabelForm
from apps.labels.models import Label, Pair, SampleBatch
from apps.runs.models import ToolError
from tests.factories import failing, ingest, make_member, make_run, make_workspace

ANSWER = {"branch": "none", "move": "retried_unchanged", "was_right": "no", "note": ""}
WEEK = date(2026, 11, 16)


@pytest.fixture
def batch(workspace) -> SampleBatch:
    error = failing("pay", {"n": 1}, "Error: no")
    runs = [
        make_run(f"r{n}", [error, error], started_at="2026-11-17T10:00:00Z")
        for n in range(12)
    ]
    ingest(workspace, *runs)
    return actions.draw_weekly_batch(workspace, week=WEEK, seed=3, size=10)


def next_pair(batch: SampleBatch, reviewer: User) -> Pair:
    """The pair that the reviewer is shown first; there is one."""
    pair = queries.next_pair(batch, reviewer)
    assert pair is not None
    return pair


def test_a_batch_is_drawn_once_a_week(workspace, batch):
    again = actions.draw_weekly_batch(workspace, week=WEEK, seed=99)

    assert again == batch
    assert batch.pairs.count() == 10
    assert batch.frame_runs == 12
    assert batch.frame_errors == 24


def test_a_batch_has_one_pair_a_run_with_its_chance(batch):
    runs = ToolError.objects.filter(pk__in=batch.pairs.values("error_id")).values(
        "run_id"
    )

    assert runs.distinct().count() == 10
    assert all(0 < pair.chance <= 0.5 for pair in batch.pairs.all())


def test_no_error_no_batch(workspace):
    with pytest.raises(actions.NothingToDrawError, match="Upload"):
        actions.draw_weekly_batch(workspace)


def test_the_queue_hides_how_the_run_ended(client, batch):
    page = client.get(reverse("labels:queue")).content.decode()

    assert "Error: no" in page
    for word in ("ended correct", "incorrect"):
        assert word not in page


def test_a_label_is_saved_and_the_next_pair_comes(client, batch, owner):
    pair = next_pair(batch, owner)

    response = client.post(reverse("labels:label-pair", args=[pair.pk]), ANSWER)

    label = Label.objects.get()
    assert (label.pair, label.reviewer, label.branch) == (pair, owner, "none")
    assert label.machine_move == ToolError.objects.get(pk=pair.error_id).next_move
    following = client.get(response["Location"]).context["pair"]
    assert following != pair


def test_a_refused_label_keeps_the_form(client, batch, owner):
    pair = next_pair(batch, owner)
    data = {**ANSWER, "branch": "dance", "note": "look here"}

    response = client.post(reverse("labels:label-pair", args=[pair.pk]), data)

    assert response.status_code == 422
    assert "look here" in response.content.decode()
    assert Label.objects.count() == 0


def test_a_double_click_is_one_label_and_a_new_word_keeps_the_old(batch, owner):
    pair = next_pair(batch, owner)

    actions.set_label(pair, reviewer=owner, **ANSWER)
    actions.set_label(pair, reviewer=owner, **ANSWER)
    actions.set_label(pair, reviewer=owner, **{**ANSWER, "was_right": "yes"})

    rows = list(Label.objects.order_by("pk").values_list("was_right", "is_current"))
    assert rows == [("no", False), ("yes", True)]


def test_no_pair_gets_more_labels_than_wanted(batch, owner, workspace):
    pair = batch.pairs.filter(reviews_wanted=1).first()
    actions.set_label(pair, reviewer=owner, **ANSWER)

    with pytest.raises(actions.QuotaFilledError):
        actions.set_label(pair, reviewer=make_member(workspace), **ANSWER)


def test_a_double_wants_two_people(batch, owner, workspace):
    pair = batch.pairs.filter(reviews_wanted=2).first()
    second = make_member(workspace)
    actions.set_label(pair, reviewer=owner, **ANSWER)

    actions.set_label(pair, reviewer=second, **ANSWER)

    assert pair.labels.filter(is_current=True).count() == 2


def test_every_pair_is_labelled_in_the_end(batch, owner, workspace):
    people = [owner, make_member(workspace)]
    labelled = 0
    for person in people:
        while pair := queries.next_pair(batch, person):
            actions.set_label(pair, reviewer=person, **ANSWER)
            labelled += 1

    state = queries.batch_state(workspace)
    assert state is not None
    assert state.is_done
    assert (state.pairs, state.labelled) == (10, 10)
    assert labelled == sum(batch.pairs.values_list("reviews_wanted", flat=True))


def test_a_skipped_pair_comes_back_at_the_end(batch, owner):
    first = next_pair(batch, owner)
    last = batch.pairs.order_by("-position").first()

    assert queries.next_pair(batch, owner, after=first.position) != first
    assert queries.next_pair(batch, owner, after=last.position) == first


def test_a_stranger_cannot_label(batch, stranger: Client):
    pair = batch.pairs.first()

    response = stranger.post(reverse("labels:label-pair", args=[pair.pk]), ANSWER)

    assert response.status_code == 404
    assert Label.objects.count() == 0


def test_labels_speak_in_triage(batch, owner):
    pair = next_pair(batch, owner)
    actions.set_label(pair, reviewer=owner, **ANSWER)
    code_id = ToolError.objects.get(pk=pair.error_id).code_id
    assert code_id is not None

    assert queries.label_counts(code_id) == {"labels": 1, "wrong": 1, "no_branch": 1}


def test_every_answer_has_a_key_of_its_own():
    keys = [option.key for _, _, options in LabelForm.QUESTIONS for option in options]

    assert len(keys) == len(set(keys))


def test_constraints_hold(batch, owner):
    pair = batch.pairs.first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Pair.objects.filter(pk=pair.pk).update(chance=1.5)
    actions.set_label(pair, reviewer=owner, **ANSWER)
    with pytest.raises(IntegrityError), transaction.atomic():
        Label.objects.update(branch="dance")


def test_beat_draws_for_each_workspace_that_has_errors(db):
    from apps.labels.tasks import draw_weekly_batches_task

    make_workspace("empty")

    assert draw_weekly_batches_task() == 0
