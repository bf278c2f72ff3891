"""Merging, explaining and undoing in a real Chromium; the pages on a phone."""

from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect, sync_playwright

from apps.accounts.actions import make_sign_in_link
from apps.catalogue.models import Text
from tests.browser_setup import CHROMIUM_ARGUMENTS, chromium_path
from tests.factories import failing, ingest, make_member, make_run, make_workspace

pytestmark = pytest.mark.browser
DECLINED = "Error: the card was declined"
REFUSED = "Error: payment refused by the bank"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS
        )
        yield browser
        browser.close()


def test_a_code_is_merged_explained_and_put_back(live_server, chromium):
    team = make_workspace("team")
    owner = make_member(team)
    ingest(
        team,
        *(
            make_run(f"r{n}", [failing("pay", {"n": n}, text)])
            for n, text in enumerate([DECLINED, DECLINED, REFUSED])
        ),
    )
    declined, refused = (Text.objects.get(sample=t).code for t in (DECLINED, REFUSED))
    context = chromium.new_context(
        base_url=live_server.url, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda line: faults.append(line.text) if line.type == "error" else None,
    )
    sign_in(page, make_sign_in_link(owner))

    page.goto(reverse("codes:place", args=[refused.pk]))
    page.get_by_label("Into the code").select_option(str(declined.pk))
    page.get_by_role("button", name="Preview").first.click()
    expect(page.get_by_text("This would move 1 error in 1 run")).to_be_visible()
    page.get_by_label("Why").fill("another card helps in both cases")
    page.get_by_role("button", name="Merge").click()

    expect(page.get_by_text("1 error moved")).to_be_visible()
    page.get_by_text("why this code").first.click()
    expect(page.locator(".why-body dt").first).to_be_visible()
    expect(page.locator("#contract")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undo: Merge")).to_be_visible()

    for name in ("list", "grouping", "tools", "moves", "tester"):
        page.goto(reverse(f"codes:{name}"))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert faults == []
    context.close()


def sign_in(page: Page, link: str) -> None:
    page.goto(link)
    button = page.locator("form button").first
    if button.is_visible():
        button.click()
        page.wait_for_load_state()
