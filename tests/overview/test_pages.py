"""The front page, the code pages and the runs pages through the client."""

import pytest
from django.urls import reverse

from apps.catalogue.models import Code
from apps.runs.models import Run
from tests.factories import HTMX, failing, ingest, make_run, step

CONFLICT = failing("update_event", {"id": 7}, "Error: Conflict")
HOSTILE = "Error: <script>alert(1)</script> {{ 7*7 }}"


def test_an_empty_workspace_says_what_to_do_first(client):
    assert "Upload sessions" in client.get("/").content.decode()


@pytest.mark.parametrize("period", ["", "4w", "14w", "all", "nonsense"])
def test_the_overview_shows_the_figure_of_its_period(client, workspace, period):
    ingest(
        workspace, *(make_run(f"r{n}", [CONFLICT], success=n < 30) for n in range(40))
    )

    page = client.get("/", {"period": period}).content.decode()

    assert "75.0%" in page
    assert "30 of 40 runs with an error" in page


def test_undated_runs_are_counted_and_said(client, workspace):
    run = make_run("a", [CONFLICT])
    del run["started_at"]
    ingest(workspace, run)

    page = client.get("/").content.decode()

    assert "1 run without a date" in page


def test_header_list_chart_and_report_agree(client, workspace):
    from apps.overview.report import report

    ingest(workspace, *(make_run(f"r{n}", [CONFLICT], success=n < 3) for n in range(9)))
    found = report(workspace)["codes"][0]
    code = Code.objects.get()

    listed = client.get(reverse("codes:list"), {"period": "all"}).context["rows"][0]
    summary = client.get(reverse("codes:detail", args=[code.pk])).context["summary"]
    chart = client.get(reverse("trends:code-panel", args=[code.pk])).context["chart"]
    runs = client.get(reverse("runs:list"), {"code": code.pk}).context["page"]

    assert listed.rate.good == summary.rate.good == found["correct"] == 3
    assert sum(p.rate.n for p in chart.points) == summary.rate.n == 9
    assert runs.paginator.count == found["runs"] == listed.counts.outcomes.runs


def test_filters_of_the_runs_list_are_in_the_address(client, workspace):
    ingest(
        workspace,
        make_run("good", [CONFLICT], model="m1"),
        make_run("bad", [], success=False, model="m2"),
    )
    url = reverse("runs:list")

    def listed(**query):
        return [run.log_id for run in client.get(url, query).context["page"]]

    assert listed(outcome="incorrect") == ["bad"]
    assert listed(errors="with") == ["good"]
    assert listed(model="m2") == ["bad"]
    assert listed(q="goo") == ["good"]
    assert listed(week="2026-11-24") == ["bad", "good"]
    assert listed(week="2026-11-16") == []
    assert listed(sort="errors") == ["bad", "good"]
    assert listed(outcome="dance", page="x", week="never") == ["bad", "good"]


def test_a_filter_swaps_the_list_alone(client, workspace):
    ingest(workspace, make_run("a", [CONFLICT]))

    fragment = client.get(reverse("codes:list"), headers=HTMX).content.decode()

    assert fragment.lstrip().startswith("<section")
    assert "<html" not in fragment


@pytest.mark.parametrize("rows", [1, 30])
def test_lists_take_as_many_queries_for_many_rows_as_for_one(
    client, workspace, rows, django_assert_max_num_queries
):
    ingest(
        workspace,
        *(
            make_run(f"r{n}", [failing(f"tool_{n}", {}, "Error: no")])
            for n in range(rows)
        ),
    )

    for name, most in (("runs:list", 8), ("codes:list", 9), ("uploads:list", 7)):
        with django_assert_max_num_queries(most):
            assert client.get(reverse(name)).status_code == 200


def test_hostile_text_is_text_on_every_page(client, workspace):
    ingest(
        workspace,
        make_run(
            "<b>run</b>",
            [failing("<i>tool</i>", {"x": "</pre><script>"}, HOSTILE)],
            final="<img src=x onerror=alert(1)>",
            model="<u>m</u>",
            title="<h1>t</h1>",
        ),
    )
    code, run = Code.objects.get(), Run.objects.get()
    pages = [
        "/",
        reverse("codes:list"),
        reverse("codes:detail", args=[code.pk]),
        reverse("trends:code-panel", args=[code.pk]),
        reverse("runs:list"),
        reverse("runs:detail", args=[run.pk]),
        reverse("rewrites:edit", args=[code.pk]),
        reverse("triage:week"),
        reverse("uploads:list"),
    ]

    for url in pages:
        page = client.get(url).content.decode()
        for tag in (
            "<script>alert",
            "<b>run",
            "<i>tool",
            "<img src=x",
            "<u>m",
            "<h1>t",
        ):
            assert tag not in page, url


def test_a_run_shows_its_transcript_with_errors_marked(client, workspace):
    ingest(workspace, make_run("a", [step("get_event", {"id": 7}), CONFLICT]))
    run = Run.objects.get()

    page = client.get(reverse("runs:detail", args=[run.pk])).content.decode()

    assert page.count('class="call failed"') == 1
    assert 'id="t2c0"' in page
    assert (
        client.get(reverse("runs:detail", args=[run.pk]), {"thread": 9}).status_code
        == 404
    )


def test_healthz_counts(client):
    assert client.get("/healthz").json()["ok"] is True
