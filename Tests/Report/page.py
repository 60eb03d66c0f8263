"""Looks at a page of `phibatch report` in headless Chromium, as its readers do.

    python3 Tests/Report/page.py .build/release/phibatch models/smollm2-demo [--lines 400]

Runs a job with hostile texts among its lines, has the program make a page, and checks it in light and, at a phone's
width, in dark: no message on the console, no request but the page itself, all rows, search, filter, sorting and keys.
Needs the Python package playwright and a Chromium; without them it says so and ends well.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HOSTILE = "</script><img src=x onerror=alert(1)><!-- <script> \u2028 \u202e &lt;"
WORDS = "rain salt sky why water light stone tree house river wind grüße naïve sun moon night bread".split()


def make(folder, given):
    """Results of a job and its input: every fortieth fails, and the fourth is hostile."""
    draw = random.Random(1)
    with open(folder + "/in.jsonl", "w") as file:
        for number in range(given.lines):
            start = HOSTILE if number == 3 else ""
            row = {"id": f"line-{number}", "prompt": start + " ".join(draw.choices(WORDS, k=draw.randint(5, 20))),
                   "topic": draw.choice(WORDS[:5]) + start, "score": number % 50 - 10}
            if number % 40 == 7:
                del row["prompt"]
            if start:
                row["note"] = {HOSTILE: start}
            file.write(json.dumps(row) + "\n")
    subprocess.run([given.program, "run", "--model", given.model, "--input", "in.jsonl", "--output", "out.jsonl", "--quiet",
                    "--keep", "all", "--max-tokens", "4", "--max-failures", str(given.lines)], cwd=folder, check=True)
    subprocess.run([given.program, "report", "out.jsonl", "--input", "in.jsonl"], cwd=folder, check=True)


def check(name, is_so, what=""):
    if not is_so:
        sys.exit(f"page.py: {name}: {what}")


def wait_for_shown(page, number=None):
    """Until the table shows so many rows, or any number."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        shown = page.evaluate("document.documentElement.dataset.shown")
        if shown is not None and number in (None, int(shown)):
            return int(shown)
        page.wait_for_timeout(10)
    sys.exit(f"page.py: the table never showed {number} rows, but {shown}")


def look(page, lines, address):
    logs, requests = [], []
    page.on("console", lambda message: logs.append(message.text))
    page.on("pageerror", lambda error: logs.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address, timeout=300_000)
    shown = wait_for_shown(page)
    check("rows", shown == lines, shown)
    check("rows as nodes", page.locator("#body tr").count() <= 100, "all are there at once")
    check("width", page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways")
    sections = page.locator("main > section:not([hidden]) > h2").all_inner_texts()
    check("order", sections.index("Answers") < sections.index("Results") < sections.index("Throughput"), sections)
    check("charts", page.locator("svg[role=img][aria-label]").count() >= 8, "some are missing")
    while page.locator("#on").is_enabled():
        page.locator("#on").click()
    end = page.locator("#body tr").last.inner_text()
    check("last page", f"line-{lines - 1}" in end, end)
    for query, count in ((f"line-{lines - 1}", 1), ("nowhere", 0)):
        page.locator("#query").fill(query)
        wait_for_shown(page, count)
    page.locator("#query").fill("onerror")
    wait_for_shown(page, 1)
    page.locator("#body button").first.focus()
    page.keyboard.press("Enter")
    check("sheet", HOSTILE.split()[0] in page.locator("#inside").inner_text(), "has not the text")
    check("images", page.locator("img").count() == 0, "a text has become HTML")
    page.keyboard.press("Escape")
    check("focus", page.evaluate("document.activeElement.closest('td') != null"), "is not back in its row")
    page.locator("#query").fill("")
    page.locator("#field").select_option("score (line)")
    page.locator("#value").fill(">= 38")
    wait_for_shown(page, len([number for number in range(lines) if number % 50 - 10 >= 38]))
    # Up, down, and back to the input's order. A phone shows no such column.
    for value in ("38", "39", "38"):
        page.locator("#head th.field button").dispatch_event("click")
        shown = page.locator("#body .field").first.text_content()
        check("sorting by a field", shown == value, shown)
    page.locator("#field").select_option(f"note.{HOSTILE} (line)")
    page.locator("#value").fill("onerror")
    wait_for_shown(page, 1)
    page.locator("#value").fill("")
    page.locator("#filter").select_option("failed")
    wait_for_shown(page, len(range(7, lines, 40)))
    page.locator("#body tr").nth(1).click()
    page.keyboard.press("ArrowRight")
    check("keys", "line-87 " in page.locator("#detail-title").inner_text(), "the arrow did nothing")
    page.keyboard.press("Escape")
    check("console", not logs, logs)
    check("requests", requests == [address], requests)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", type=os.path.abspath)
    arguments.add_argument("model", type=os.path.abspath)
    arguments.add_argument("--lines", type=int, default=400)
    given = arguments.parse_args()
    names = ["chromium", "chromium-browser", "google-chrome"]
    browser_path = next((path for path in map(shutil.which, names) if path), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if not browser_path or not sync_playwright:
        print("page.py: skipped: it needs Chromium and the Python package playwright")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        make(folder, given)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for scheme, width in [("light", 1280), ("dark", 360)]:
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
            look(context.new_page(), given.lines, f"file://{folder}/out.jsonl.html")
            context.close()
        browser.close()
    print("page.py: fine")


main()
