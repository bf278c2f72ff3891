"""The whole loop in a real Chromium, with a real worker behind it."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from apps.accounts.actions import make_sign_in_link
from apps.catalogue.models import Code
from apps.labels.models import Label
from apps.rewrites.models import Rewrite
from apps.triage.models import Decision
from tests.browser_setup import CHROMIUM_ARGUMENTS, chromium_path
from tests.factories import (
    as_lines,
    failing,
    make_member,
    make_run,
    make_workspace,
    step,
)

pytestmark = pytest.mark.browser
SHOTS = Path(__file__).resolve().parents[2] / "var" / "screenshots"
SIZES = {"desktop": (1400, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS
        )
        yield browser
        browser.close()


@pytest.fixture
def faults() -> list[str]:
    """Every error that the page threw or that its console told of."""
    return []


@pytest.fixture
def page(chromium: Browser, live_server, faults: list[str]) -> Iterator[Page]:
    context = chromium.new_context(
        base_url=live_server.url, viewport={"width": 1400, "height": 900}
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()

    def note(line: ConsoleMessage) -> None:
        if line.type == "error":
            faults.append(line.text)

    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", note)
    yield page
    context.close()


def session_file(folder: Path) -> Path:
    """Sessions of the last two weeks; one code fails often."""
    today = timezone.now().date()
    day = today - timedelta(days=today.weekday() + 3)
    conflict = failing("update_event", {"id": 7}, '{"error": "Conflict"}')
    runs = [
        make_run(
            f"run-{n:02}",
            [step("get_event", {"id": n}), conflict, conflict]
            if n % 2
            else [step("get_event", {"id": n})],
            started_at=f"{day}T{8 + n % 10:02}:00:00Z",
            success=n % 4 != 1,
        )
        for n in range(24)
    ]
    path = folder / "sessions.jsonl"
    path.write_bytes(as_lines(runs))
    return path


def shoot(page: Page, name: str) -> None:
    """Take the page at both widths, light and dark."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for size, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(150)
            page.screenshot(path=SHOTS / f"{name}-{size}-{scheme}.png", full_page=True)
            too_wide = page.evaluate(
                "document.documentElement.scrollWidth > innerWidth"
            )
            assert not too_wide, f"{name} is wider than the screen at {width} px"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1400, "height": 900})


@pytest.mark.timeout(240)
def test_the_whole_loop(page: Page, faults, worker, tmp_path, live_server):
    owner = make_member(make_workspace("team"))

    # sign in by a one-time link
    page.goto(make_sign_in_link(owner))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    shoot(page, "overview-empty")

    # upload a real file and watch it finish
    page.get_by_role("link", name="Upload sessions").first.click()
    page.wait_for_load_state()
    page.set_input_files("#id_files", session_file(tmp_path))
    row = page.locator("tr[id^=upload-]").first
    expect(row).to_have_attribute("data-state", "done", timeout=60_000)
    expect(row).to_contain_text("24")
    shoot(page, "uploads")

    # the headline, its chart, and the costliest code
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("#headline")).to_contain_text("6 of 12 runs")
    expect(page.locator("[data-chart]")).to_have_attribute("data-drawn", "yes")
    shoot(page, "overview")
    page.get_by_role("link", name="update_event.conflict").click()
    expect(page.locator("#code-trend-panel [data-drawn=yes]")).to_be_visible()
    shoot(page, "code")

    # a transcript, from error to error
    page.locator("table a.mono[href*='/runs/']").first.click()
    page.get_by_role("button", name="Next error").click()
    expect(page.locator(".call.here")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-jump-place]")).to_contain_text("2 of 2")
    shoot(page, "run")

    # label three pairs by keyboard
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.get_by_role("button", name="Draw the batch").click()
    shoot(page, "label")
    for _ in range(3):
        shown = page.locator("#pair form").get_attribute("action")
        for key in ("9", "y"):
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_function(
            "old => document.querySelector('#pair form')?.getAttribute('action')"
            " !== old",
            arg=shown,
        )
    assert Label.objects.filter(branch="none", was_right="yes").count() == 3

    # write a new text, watch its difference, ship it
    code = Code.objects.get()
    page.goto(f"/codes/{code.pk}")
    page.get_by_role("link", name="Write a new text").click()
    page.fill(
        "#id_agent_message",
        "This event has started and was not changed. Use create_event instead.",
    )
    page.select_option("#id_next_action", "switch_tool")
    expect(page.locator("#preview ins").first).to_be_visible()
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("button", name="Ship")).to_be_visible()
    shoot(page, "rewrite")
    page.get_by_role("button", name="Ship").click()

    # the mark stands on the chart
    expect(page.locator("#code-trend-panel [data-drawn=yes]")).to_be_visible()
    expect(page.locator("#code-trend-panel")).to_contain_text("Rewrite 1, shipped")
    expect(page.locator(".annotation-text")).to_contain_text("rewrite 1")
    assert Rewrite.objects.get().state == "shipped"

    # decide in triage and read the minutes
    page.get_by_role("link", name="Triage").click()
    page.select_option(f"#kind-{code.pk}", "watch")
    page.select_option(f"#owner-{code.pk}", str(owner.pk))
    page.locator(f"#decision-{code.pk}").get_by_role("button").click()
    expect(page.locator(f"#decision-{code.pk}")).to_contain_text("Saved")
    assert Decision.objects.get().owner == owner
    page.reload()
    page.get_by_role("button", name="Copy").click()
    minutes = page.evaluate("navigator.clipboard.readText()")
    assert "**Watch**" in minutes
    shoot(page, "triage")

    # the keys that a page has are listed
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("Triage")
    assert faults == []
