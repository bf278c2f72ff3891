"""The rules through the client: seen, previewed, saved, read again, told in words."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role
from apps.overview.report import report
from apps.runs.models import PersonOutcome, Rederivation, RuleSet, Run
from apps.runs.rule_changes import changes
from apps.runs.rule_forms import RulesForm, initial_of
from apps.runs.rule_sets import current_rules
from apps.runs.rules import DEFAULT_RULES, Rules
from apps.uploads.rederive import rederive
from tests.factories import HTMX, failing, ingest, make_member, make_run, step

BY_TEXT = step("pay", {"n": 1}, "Error: card declined")
CONFLICT = failing("update_event", {"id": 7}, "Error: Conflict")


@pytest.fixture
def queued(monkeypatch) -> list[int]:
    """Ids of passes that were handed to the queue once their rows were committed."""
    from apps.uploads.tasks import rederive_task

    ids: list[int] = []
    monkeypatch.setattr(rederive_task, "delay", ids.append)
    return ids


def values(**changed: object) -> dict[str, object]:
    """What the form sends for the rules that Errata starts with."""
    found = {**initial_of(DEFAULT_RULES), "note": "", **changed}
    return {name: "" if value is None else value for name, value in found.items()}


def as_member(workspace, role: str) -> Client:
    client = Client()
    client.force_login(make_member(workspace, role))
    return client


def test_the_form_gives_back_the_rules_it_was_given():
    rules = Rules(
        disabled_evidence=frozenset({"traceback", "exit-code@bash"}),
        sub_tool_of={"bash": "command", "mcp:run": "cmd"},
        thinking_tools=frozenset({"think"}),
        excluded=("tag: smoke", "agent: a*"),
        score_name="accuracy",
        score_threshold=0.5,
        score_higher_is_better=False,
    )
    form = RulesForm(values(**initial_of(rules)))

    assert form.is_valid()
    assert form.rules() == rules


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"excluded": "smoke"}, "is no pattern"),
        ({"excluded": "colour: red"}, "is no pattern"),
        ({"excluded": "tag:"}, "is no pattern"),
        ({"sub_tool_of": "bash"}, "is no pair"),
        ({"disabled_for_tool": "exit-code"}, "is not “rule@tool”"),
        ({"disabled_for_tool": "dance@bash"}, "is not “rule@tool”"),
        ({"evidence": ["dance"]}, "Select a valid choice"),
        ({"score_name": "accuracy"}, "a name and a threshold"),
        ({"score_threshold": "0.5"}, "a name and a threshold"),
        ({"score_name": "a", "score_threshold": "nan"}, "number"),
        ({"thinking_tools": "\n".join(map(str, range(300)))}, "more than 200"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    client, changed, sentence, queued
):
    response = client.post(reverse("uploads:save-rules"), values(**changed))

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert RuleSet.objects.count() == 0
    assert queued == []


def test_saving_makes_a_version_and_starts_a_pass(
    client, owner, workspace, queued, django_capture_on_commit_callbacks
):
    ingest(workspace, make_run("a", [BY_TEXT]), make_run("b", [CONFLICT]))
    sent = values(
        disabled_for_tool="error-prefix@pay", excluded="agent: x", note="Noise."
    )

    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(reverse("uploads:save-rules"), sent)

    assert response["Location"] == reverse("runs:rules")
    row = RuleSet.objects.get()
    assert (row.version, row.note, row.made_by) == (2, "Noise.", owner)
    job = Rederivation.objects.get()
    assert queued == [job.pk]
    page = client.get(reverse("runs:rules")).content.decode()
    assert "0 of 2" in page
    assert "hx-get" in client.get(reverse("runs:rules-progress")).content.decode()

    rederive(job)

    assert report(workspace)["tool_errors"] == 1
    page = client.get(reverse("runs:rules")).content.decode()
    assert "All stored runs are read by version 2" in page
    assert "evidence switched off: + error-prefix@pay" in page
    assert "Noise." in page
    assert "every 1s" not in client.get(reverse("runs:rules-progress")).content.decode()


def test_saving_the_same_rules_says_so(client, queued):
    response = client.post(reverse("uploads:save-rules"), values(), follow=True)

    assert "Nothing is changed" in response.content.decode()
    assert RuleSet.objects.count() == 0


def test_a_preview_counts_before_and_after_and_saves_nothing(client, workspace):
    ingest(
        workspace,
        make_run("a", [BY_TEXT], scores={"accuracy": 0.9}, success=None),
        make_run("b", [CONFLICT], agent="tester"),
    )
    before = report(workspace)
    sent = values(
        excluded="agent: test*",
        disabled_for_tool="error-prefix@pay",
        score_name="accuracy",
        score_threshold="0.5",
    )

    response = client.post(reverse("uploads:preview-rules"), sent, headers=HTMX)

    found = {c.label: (c.before, c.after) for c in response.context["preview"].changes}
    assert found["Runs that count"] == (2, 1)
    assert found["Runs left out"] == (0, 1)
    assert found["Tool errors"] == (2, 0)
    assert found["Runs that ended correctly"] == (1, 1)
    assert found["Runs with an unknown outcome"] == (1, 0)
    assert "<form" not in response.content.decode()
    whole = client.post(reverse("uploads:preview-rules"), sent).content.decode()
    assert "Runs left out" in whole
    assert "agent: test*" in whole
    assert report(workspace) == before
    assert RuleSet.objects.count() == 0


def test_a_preview_of_nonsense_says_why(client):
    sent = values(excluded="smoke")

    response = client.post(reverse("uploads:preview-rules"), sent, headers=HTMX)

    assert response.status_code == 422
    assert "Runs to leave out: “smoke” is no pattern" in response.content.decode()


def test_a_viewer_sees_the_rules_and_changes_nothing(workspace):
    viewer = as_member(workspace, Role.VIEWER)

    assert "Save and read" not in viewer.get(reverse("runs:rules")).content.decode()
    for name in ("uploads:save-rules", "uploads:preview-rules"):
        assert viewer.post(reverse(name), values()).status_code == 403


def test_the_page_shows_which_scores_runs_have(client, workspace):
    ingest(
        workspace,
        make_run("a", [], scores={"accuracy": 0.25, "verdict": "fine <b>"}),
        make_run("b", [], scores={"accuracy": 1}),
    )

    page = client.get(reverse("runs:rules-scores")).content.decode()

    assert "accuracy" in page
    assert "0.25 to 1" in page
    assert "fine &lt;b&gt;" in page


def test_left_out_runs_are_told_on_every_page(client, workspace):
    ingest(workspace, make_run("a", [CONFLICT]))
    ingest(workspace, make_run("b", [CONFLICT], agent="tester"))
    client.post(reverse("uploads:save-rules"), values(excluded="agent: test*"))
    rederive(Rederivation.objects.get())

    listed = client.get(reverse("runs:list"))
    only = client.get(reverse("runs:list"), {"left_out": "only"})
    both = client.get(reverse("runs:list"), {"left_out": "both"})
    run = Run.objects.get(log_id="b")
    detail = client.get(reverse("runs:detail", args=[run.pk])).content.decode()
    home = client.get(reverse("overview:home"), {"period": "all"}).content.decode()

    assert [run.log_id for run in listed.context["page"]] == ["a"]
    assert [run.log_id for run in only.context["page"]] == ["b"]
    assert len(both.context["page"]) == 2
    assert "agent: test*" in listed.content.decode()
    assert "left out of all figures" in detail
    assert "agent: test*" in home


def test_a_reviewer_says_how_a_run_ended(workspace):
    ingest(workspace, make_run("a", [CONFLICT], success=None, scores={"f1": 0.5}))
    run = Run.objects.get()
    url = reverse("runs:say-outcome", args=[run.pk])
    reviewer = as_member(workspace, Role.REVIEWER)

    reviewer.post(url, {"outcome": "correct", "note": "Saw <it>."})

    page = reviewer.get(reverse("runs:detail", args=[run.pk])).content.decode()
    assert "Back to what the log says" in page
    assert "Saw &lt;it&gt;." in page
    assert "f1" in page
    assert report(workspace)["outcomes"]["correct"] == 1
    reviewer.post(url, {"outcome": "unknown"})
    assert report(workspace)["outcomes"]["unknown"] == 1
    reviewer.post(url, {"outcome": "dance"})
    assert PersonOutcome.objects.count() == 2


def test_only_a_reviewer_of_the_same_team_says_it(workspace, stranger):
    ingest(workspace, make_run("a", [], success=None))
    url = reverse("runs:say-outcome", args=[Run.objects.get().pk])

    viewer = as_member(workspace, Role.VIEWER)
    assert viewer.post(url, {"outcome": "correct"}).status_code == 403
    assert stranger.post(url, {"outcome": "correct"}).status_code == 404
    assert PersonOutcome.objects.count() == 0


def test_another_team_has_its_own_rules(client, workspace, stranger, queued):
    client.post(reverse("uploads:save-rules"), values(excluded="tag: mine"))

    assert "tag: mine" not in stranger.get(reverse("runs:rules")).content.decode()
    assert current_rules(workspace.pk).version == 2


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        (Rules(), []),
        (Rules(excluded=("tag: x",)), ["runs left out: + tag: x"]),
        (
            Rules(sub_tool_of={"bash": "command"}),
            ["sub-tools: + bash by command"],
        ),
        (
            Rules(score_name="f1", score_threshold=0.5),
            ["outcome by a score: none → f1 ≥ 0.5"],
        ),
        (Rules(lookup_tools=frozenset({"b", "a"})), ["look-up tools: + a, b"]),
    ],
)
def test_changes_are_told_in_words(after, wanted):
    assert changes(Rules(), after) == wanted


def test_a_new_order_of_patterns_is_a_change():
    before, after = (Rules(excluded=("tag: a", "tag: b")[::way]) for way in (1, -1))

    assert changes(before, after) == ["runs left out: another order"]
