"""A wrong address: an id in another spelling is opened, and of any other what was probably meant is one key away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visitor
from tests.conftest import ROOT
from tests.tools import json_of, run_node

in_browser = [pytest.mark.browser, pytest.mark.jekyll]


def nearest(call: str, *arguments: object) -> Any:
    """Call a function of nearest.js in Node."""
    script = (
        'import * as nearest from "./templates/scripts/nearest.js";'
        f"console.log(JSON.stringify(nearest.{call}(...JSON.parse(process.argv.at(-1)))));"
    )
    return json.loads(run_node(script, json.dumps(arguments)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "gb_id"),
    [
        ("/gb/gb9999.html", "GB9999"),
        ("/GB0170", "GB0170"),
        ("/gb/170", "GB0170"),
        ("/gb/7", "GB0007"),
        ("/gb/170.html", "GB0170"),
        ("/gb/gb0170", "GB0170"),
        ("/gb/gb0170/", "GB0170"),
        ("/gb/GB0170.html", "GB0170"),
        ("/gb/gb170.html", "GB0170"),
        ("/gb/gb-0170.html", "GB0170"),
        ("/gb/gb%200170.html", "GB0170"),
        ("/x/gb/gb0170.htm", "GB0170"),
        ("/api/v1/gb/gb0042.json", "GB0042"),
        ("/gb/gb012345.html", "GB012345"),
        ("/gb/gbl-ab12cd.html", "GBL-AB12CD"),
        ("/gb/gb%.html", None),
        ("/gb/gb01234567.html", None),
        ("/about-us", None),
        ("/gb/", None),
        ("/", None),
    ],
)
def test_an_address_means_an_id(path: str, gb_id: str | None) -> None:
    assert nearest("idIn", path) == gb_id


@pytest.mark.slow
def test_the_ids_with_the_closest_digits_come_first() -> None:
    ids = ["GB0107", "GB0170", "GB0171", "GB0710", "GB1700", "GB5555", "GBL-ABCDEF"]
    assert nearest("nearestIds", "GB0172", ids) == ["GB0171", "GB0170", "GB0107", "GB0710"]
    assert nearest("nearestIds", "GB0017", ids)[0] == "GB0107"
    assert nearest("nearestIds", "GB9393", ids) == []
    assert len(nearest("nearestIds", "GB0170", ids, 2)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [("0170", "0170", 0), ("0170", "0710", 1), ("0170", "017", 1), ("0170", "9999", 4), ("", "12", 2), ("12", "21", 1)],
)
def test_a_swap_is_one_step(one: str, other: str, steps: int) -> None:
    assert nearest("distance", one, other) == steps
    assert nearest("distance", other, one) == steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "root", "words"),
    [
        ("/site/data-dependent_branching.html", "/site/", "data dependent branching"),
        ("/site/gb/item().html", "/site/", "item"),
        ("/elsewhere", "/site/", "elsewhere"),
        ("/a%20b/c", "/", "a b c"),
        ("/%E6%97%A5", "/", "日"),
        ("/%", "/", ""),
        ("/index.html", "/", ""),
    ],
)
def test_the_words_of_any_other_address_are_searched_for(path: str, root: str, words: str) -> None:
    assert nearest("wordsIn", path, root) == words


def titles() -> dict[str, str]:
    """What the page knows: every id with its title."""
    return dict(json.loads(json_of((ROOT / "docs" / "assets" / "data" / "ids.js").read_text("utf-8"))))


@pytest.fixture
def lost(visitor: Visitor) -> Iterator[Visitor]:
    """A visitor of wrong addresses: that the server says 404, and that the browser notes it, is right."""
    yield visitor
    visitor.faults[:] = [fault for fault in visitor.faults if "status of 404" not in fault]


class TestInTheBrowser:
    pytestmark = in_browser

    @pytest.mark.parametrize(
        "path", ["GB0170", "gb/170", "gb/gb170.html", "gb/gb0170", "gb/GB0170.html", "a/b/gb0170.html"]
    )
    def test_an_id_in_another_spelling_is_opened_and_back_leads_to_where_one_was(
        self, lost: Visitor, path: str
    ) -> None:
        page = lost.open("about.html")
        lost.open(f"{path}#explanation")
        expect(page).to_have_url(f"{lost.address}gb/gb0170.html#explanation")
        expect(page.locator("#gb0170")).to_be_visible()
        page.go_back()
        expect(page).to_have_url(f"{lost.address}about.html")

    def test_the_page_of_an_id_that_is_missing_itself_is_not_opened_again_and_again(self, lost: Visitor) -> None:
        loaded: list[str] = []
        lost.page.on("load", lambda page: loaded.append(page.url))
        lost.page.route("**/gb/gb0170.html", lambda route: route.continue_(url=f"{lost.address}not-there.html"))
        page = lost.open("gb/gb0170.html")
        page.wait_for_load_state("networkidle")
        expect(page.locator("h1")).to_have_text("Page not found")
        assert loaded == [f"{lost.address}gb/gb0170.html"]

    def test_an_id_that_nobody_has_shows_those_that_look_like_it(self, lost: Visitor) -> None:
        page = lost.open("gb/gb9999.html")
        page.locator("#nearest a").first.wait_for()
        assert page.inner_text("#nearest h2") == "There is no GB9999. Did you mean"
        found = page.locator("#nearest a").all_inner_texts()
        assert page.url.endswith("/gb/gb9999.html"), "nobody is sent anywhere"
        assert 1 <= len(found) <= 5
        assert set(found) <= titles().keys()
        for link in page.locator("#nearest a").all():
            address = str(link.evaluate("link => link.href"))
            assert lost.page.request.get(address).status == 200

    def test_other_words_are_searched_for(self, lost: Visitor) -> None:
        page = lost.open("graph-breaks/item()<b>.html")
        page.locator("#nearest a").wait_for()
        assert page.inner_text("#nearest") == "Search the registry for “graph breaks item b”"
        assert page.locator("#nearest a").evaluate("link => link.href") == (
            f"{lost.address}index.html?q=graph+breaks+item+b"
        )

    def test_without_script_the_page_says_how_addresses_look(self, browser: Browser, address: str) -> None:
        with browser.new_context(java_script_enabled=False) as context:
            page = context.new_page()
            answer = page.goto(f"{address}gb/gb9999.html")
            assert answer is not None
            assert answer.status == 404
            assert not page.locator("#nearest").is_visible()
            assert re.search(r"/gb/gb\d{4}\.html", page.inner_text("main"))
            page.get_by_role("link", name="Look it up in the registry").click()
            assert page.url == address
