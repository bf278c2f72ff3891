"""From draft to shipped; which errors count for a rewrite."""

from datetime import date

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.catalogue.models import Code, Text
from apps.overview.report import report
from apps.rewrites import actions
from apps.rewrites.diff import word_difference
from apps.rewrites.models import Rewrite, RewriteState
from apps.rewrites.queries import present_text
from apps.runs.models import ToolError
from apps.trends.rewrites import BeforeAfter, before_after
from tests.factories import failing, ingest, make_run

OLD = "Error: Conflict"
NEW = "Event {event} has started; nothing was changed. Use create_event instead."


def told(text: str):
    return failing("update_event", {"id": 7}, text)


def runs(prefix: str, text: str, day: str, good: int, bad: int):
    return [
        make_run(
            f"{prefix}{n}",
            [told(text)],
            started_at=f"{day}T10:00:00Z",
            success=n < good,
        )
        for n in range(good + bad)
    ]


@pytest.fixture
def code(workspace) -> Code:
    ingest(workspace, *runs("old", OLD, "2026-11-03", 6, 18))
    return Code.objects.get()


def shipped(code: Code, text: str = NEW, day: date = date(2026, 11, 9)) -> Rewrite:
    draft = actions.save_draft(code, by=None, agent_message=text)
    return actions.ship(draft, day, by=None)


def compared(rewrite: Rewrite) -> BeforeAfter:
    """Before and after a rewrite that is shipped."""
    found = before_after(rewrite)
    assert found is not None
    return found


def delivered_last(code: Code) -> str:
    """The present text of a code that has one."""
    text = present_text(code)
    assert text is not None
    return text.sample


def filled(number: int) -> str:
    return NEW.replace("{event}", f"evt_{number}")


def test_errors_with_the_new_text_count_for_the_rewrite(workspace, code):
    rewrite = shipped(code)

    ingest(workspace, *runs("new", filled(3), "2026-11-10", 20, 4))

    found = compared(rewrite)
    assert (found.before.good, found.before.n) == (6, 24)
    assert (found.after.good, found.after.n) == (20, 24)
    assert found.after_errors == 24
    assert found.adoption == 1.0
    assert found.word == "better"
    # 4c by hand: variance 24*24*26*22 / (48**2 * 47) / 12**2 = 0.021129 (Cochran), rho
    # 13.662924 from 6 of 24 before and 8 * 24 expected, half 0.451523
    assert found.verdict.adjusted == pytest.approx(14 / 24)
    assert found.verdict.low == pytest.approx(0.131811, abs=1e-6)
    assert found.verdict.high == 1.0
    assert found.says.baseline == (
        "Compared with 1 week with runs from 2026-11-02 up to 2026-11-09."
    )
    assert Code.objects.count() == 1
    assert {error.code_id for error in ToolError.objects.all()} == {code.pk}


def test_it_makes_no_difference_whether_the_logs_or_the_rewrite_come_first(
    workspace, code
):
    ingest(workspace, *runs("new", filled(3), "2026-11-10", 20, 4))
    totals = report(workspace)["tool_errors"]

    rewrite = shipped(code)

    found = compared(rewrite)
    assert (found.after.good, found.after.n) == (20, 24)
    assert (found.before.good, found.before.n) == (6, 24)
    assert report(workspace)["tool_errors"] == totals
    assert [c["code"] for c in report(workspace)["codes"]] == [code.key]


def test_a_late_upload_of_old_logs_counts_for_the_old_text(workspace, code):
    rewrite = shipped(code)

    ingest(workspace, *runs("late", OLD, "2026-11-04", 1, 0))

    assert compared(rewrite).before.n == 25
    assert compared(rewrite).after.n == 0


def test_the_old_text_after_shipping_lowers_adoption(workspace, code):
    rewrite = shipped(code)

    ingest(
        workspace,
        *runs("new", filled(1), "2026-11-10", 3, 0),
        *runs("still", OLD, "2026-11-10", 1, 0),
    )

    assert compared(rewrite).adoption == 0.75
    assert compared(rewrite).word == "cannot tell yet"


def test_what_a_usual_interval_would_call_waits_for_more_runs(workspace, code):
    rewrite = shipped(code)

    ingest(workspace, *runs("new", filled(1), "2026-11-10", 14, 10))

    found = compared(rewrite)
    assert found.verdict.crude is not None
    assert found.verdict.crude.low > 0
    assert found.verdict.low < 0
    assert found.word == "cannot tell yet"
    assert found.says.missing.startswith("about ")


def test_the_running_week_counts_once_it_is_over(client, workspace, code):
    rewrite = shipped(code)
    today = timezone.now().date().isoformat()

    ingest(workspace, *runs("new", filled(3), today, 20, 4))

    found = compared(rewrite)
    assert (found.after.n, found.running, found.word) == (0, 24, "cannot tell yet")
    panel = client.get(reverse("trends:code-panel", args=[code.pk])).content.decode()
    assert "24 runs met it this week" in panel


def test_controls_are_codes_of_the_same_tool_without_a_rewrite(workspace, code):
    def others(tool: str, day: str, good: int):
        step = failing(tool, {"id": 7}, f"Error: {tool} is locked")
        return [
            make_run(
                f"{tool}{day}{n}",
                [step],
                started_at=f"{day}T10:00:00Z",
                success=n < good,
            )
            for n in range(20)
        ]

    rewrite = shipped(code)
    ingest(
        workspace,
        *runs("new", filled(3), "2026-11-10", 20, 4),
        *others("pay", "2026-11-03", 10),
        *others("pay", "2026-11-10", 20),
    )
    far = compared(rewrite).verdict.against_controls
    ingest(
        workspace,
        *others("update_event", "2026-11-03", 10),
        *others("update_event", "2026-11-10", 10),
    )
    near = compared(rewrite).verdict.against_controls

    assert far is not None
    assert far.delta == pytest.approx(14 / 24 - 10 / 20)
    assert near is not None
    assert near.delta == pytest.approx(14 / 24)


def test_a_comparison_takes_three_queries(workspace, code, django_assert_num_queries):
    rewrite = Rewrite.objects.select_related("workspace").get(pk=shipped(code).pk)
    ingest(workspace, *runs("new", filled(3), "2026-11-10", 20, 4))

    with django_assert_num_queries(3):
        before_after(rewrite)


def test_a_wrapped_text_is_recognised(workspace, code):
    rewrite = shipped(code)

    ingest(workspace, *runs("new", f"Error: {filled(1)}", "2026-11-10", 2, 0))

    assert compared(rewrite).after.n == 2


def test_a_code_has_one_open_draft(code, owner):
    first = actions.save_draft(code, by=owner, agent_message="One.")
    second = actions.save_draft(code, by=owner, agent_message="Two.")

    assert first.pk == second.pk
    assert Rewrite.objects.get().agent_message == "Two."


def test_a_shipped_rewrite_cannot_be_shipped_again(code):
    rewrite = shipped(code)

    with pytest.raises(actions.RewriteRefusedError, match="already"):
        actions.ship(rewrite, date(2026, 11, 10), by=None)


def test_keep_and_roll_back_are_steps_of_a_shipped_one(code, owner):
    draft = actions.save_draft(code, by=None, agent_message="One.")
    with pytest.raises(actions.RewriteRefusedError):
        actions.end(draft, RewriteState.KEPT, by=owner, on=date(2026, 11, 10))
    rewrite = actions.ship(draft, date(2026, 11, 9), by=owner)

    ended = actions.end(
        rewrite, RewriteState.ROLLED_BACK, by=owner, on=date(2026, 11, 20)
    )

    assert ended.state == "rolled_back"
    assert [event.state for event in ended.events.order_by("pk")] == [
        "draft",
        "shipped",
        "rolled_back",
    ]


def test_the_present_text_is_the_one_delivered_last(workspace, code):
    shipped(code)
    assert delivered_last(code) == OLD

    ingest(workspace, *runs("new", filled(1), "2026-11-10", 2, 0))

    assert delivered_last(code) == filled(1)


def test_the_editor_saves_and_ships(client, code):
    edit = reverse("rewrites:edit", args=[code.pk])
    saved = client.post(edit, {"agent_message": NEW, "next_action": "switch_tool"})
    draft = Rewrite.objects.get()

    shipped_response = client.post(
        reverse("rewrites:ship", args=[draft.pk]), {"shipped_on": "2026-11-09"}
    )

    assert saved["Location"] == edit
    assert shipped_response["Location"] == reverse("codes:detail", args=[code.pk])
    draft.refresh_from_db()
    assert (draft.state, draft.shipped_on) == ("shipped", date(2026, 11, 9))
    code.refresh_from_db()
    assert code.next_action == "switch_tool"
    panel = client.get(reverse("trends:code-panel", args=[code.pk])).content.decode()
    assert "rewrite 1" in panel


def test_an_empty_text_is_refused_and_nothing_is_saved(client, code):
    response = client.post(
        reverse("rewrites:edit", args=[code.pk]), {"agent_message": " "}
    )

    assert response.status_code == 422
    assert Rewrite.objects.count() == 0


def test_the_preview_shows_the_difference_and_no_markup(client, code):
    response = client.post(
        reverse("rewrites:check", args=[code.pk]),
        {"agent_message": "Error: <img src=x onerror=alert(1)>"},
    )

    page = response.content.decode()
    assert "<img" not in page
    assert "&lt;img" in page


def test_word_difference_joins_to_both_texts():
    old, new = "Error: Conflict of events", "Error: this event of yours"

    pieces = word_difference(old, new)

    assert "".join(p.text for p in pieces if p.kind != "new").split() == old.split()
    assert "".join(p.text for p in pieces if p.kind != "old").split() == new.split()


def test_texts_of_a_code_stay_after_shipping(code):
    shipped(code)

    assert Text.objects.filter(code=code).count() == 2


def test_the_checks_run_on_a_draft_as_it_is_typed(client, code):
    url = reverse("rewrites:check", args=[code.pk])

    bad = client.post(url, {"agent_message": "Something went wrong at db-1.internal."})
    good = client.post(
        url,
        {
            "agent_message": "Field `id` must be a number; nothing was changed."
            " Correct it and call update_event again.",
            "next_action": "correct_input",
            "retry_directive": "after_input_fix",
        },
    )

    assert "leaks-host" in bad.content.decode()
    assert "selects-no-branch" in bad.content.decode()
    assert "leaks-host" not in good.content.decode()
    assert "selects-no-branch" not in good.content.decode()


def test_filters_of_the_list_are_in_the_address(client, code):
    shipped(code)
    actions.save_draft(code, by=None, agent_message="Ask for the number.")
    url = reverse("rewrites:list")

    def listed(**query):
        return [r.state for r in client.get(url, query).context["rewrites"]]

    assert listed() == ["draft", "shipped"]
    assert listed(state="shipped") == ["shipped"]
    assert listed(q="number") == ["draft"]
    assert listed(state="dance", sort="code", page="x") == ["draft", "shipped"]
