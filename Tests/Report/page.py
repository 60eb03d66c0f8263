"""Looks at a page of `phibatch report` in headless Chromium, as its readers do.

    python3 Tests/Report/page.py .build/release/phibatch [--lines 100000] [--pictures FOLDER]

Makes results with hostile texts among them, has the program make a page, and checks it in light and dark and at a
phone's width: no message on the console, no request but the page itself, all rows, search, filter, sorting, keys, and
axe's rules where axe-playwright-python is there. Prints how long loading, searching and scrolling take. Needs the
Python package playwright and a Chromium; without them it says so and ends well.
"""

import argparse
import gzip
import hashlib
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


def make(folder, lines):
    """Results and their input: every fortieth fails, and the fourth is hostile."""
    draw = random.Random(1)
    text = lambda most: " ".join(draw.choices(WORDS, k=draw.randint(5, most)))
    dump = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    ended = 1_790_000_000.0
    fingerprint = [["job.seed", "1"]]
    with open(folder + "/in.jsonl", "w") as given, open(folder + "/out.jsonl", "w") as made, \
            gzip.open(folder + "/out.jsonl.log", "wb", 1) as log:
        log.write(sealed({"phibatch_log": 1, "format": "jsonl", "fingerprint": fingerprint}))
        for number in range(lines):
            start = HOSTILE if number == 3 else ""
            line = dump({"id": f"line-{number}", "prompt": start + text(60)})
            given.write(line + "\n")
            tokens = draw.randint(10, 400)
            ended += tokens / 80 + (7200 if number == lines // 2 else 0)
            result = {"id": f"line-{number}", "sample": 0}
            if number % 40 == 7:
                result["error"] = {"code": "bad_prompt", "message": start + "No.", "line": number + 1}
            else:
                result |= {"text": f"{start}answer {number} {text(200)}", "finish_reason": "stop",
                           "usage": {"prompt_tokens": 9, "completion_tokens": tokens}, "seed": 1}
            result |= {"topic": draw.choice(WORDS[:5]) + start, "score": number % 50 - 10}
            if start:
                result |= {"note": {HOSTILE: start}}
            if "text" in result:
                result |= {"timing": {"queued": 0.1, "prefill": 0.5, "decode": tokens / 10,
                                      "tokens_per_second": 9.5, "ended": round(ended, 3)}}
            made.write(dump(result) + "\n")
            hashed = hashlib.sha256(line.encode()).hexdigest()[:16]
            log.write(sealed(result | {"line_hash": hashed, "run": "r"}))
        log.write(sealed({"results": lines, "size": 0, "content": "0" * 16}))


# CRC-64/XZ, by bytes.
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0xC96C5795D7870F42 if byte & 1 else 0)
    TABLE.append(byte)


def sealed(members):
    """A line of the log; its sum is of all bytes after the comma behind it."""
    rest = ("," + json.dumps(members, ensure_ascii=False, separators=(",", ":"))[1:]).encode()
    value = 0xFFFFFFFFFFFFFFFF
    for byte in rest:
        value = TABLE[(value ^ byte) & 255] ^ value >> 8
    return b'{"sum":"%016x"%s\n' % (value ^ 0xFFFFFFFFFFFFFFFF, rest)


def check(name, is_so, what=""):
    if not is_so:
        sys.exit(f"page.py: {name}: {what}")


def axe_rules():
    try:
        import axe_playwright_python
    except ImportError:
        return None
    for folder, _, names in os.walk(os.path.dirname(axe_playwright_python.__file__)):
        if "axe.min.js" in names:
            return open(os.path.join(folder, "axe.min.js")).read()
    return None


def wait_for_shown(page, number=None):
    """Until the table shows so many rows, or any number."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        shown = page.evaluate("document.documentElement.dataset.shown")
        if shown is not None and number in (None, int(shown)):
            return int(shown)
        page.wait_for_timeout(10)
    sys.exit(f"page.py: the table never showed {number} rows, but {shown}")


def look(page, lines, address, rules):
    logs, requests = [], []
    page.on("console", lambda message: logs.append(message.text))
    page.on("pageerror", lambda error: logs.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    start = time.monotonic()
    page.goto(address, timeout=300_000)
    shown = wait_for_shown(page)
    loaded = time.monotonic() - start
    check("rows", shown == lines, shown)
    check("rows as nodes", page.locator("#body tr").count() <= 100, "all are there at once")
    check("width", page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways")
    sections = page.locator("main > section:not([hidden]) > h2").all_inner_texts()
    check("order", sections.index("Answers") < sections.index("Results") < sections.index("Throughput"), sections)
    check("charts", page.locator("svg[role=img][aria-label]").count() >= 8, "some are missing")
    times = page.evaluate("""async () => {
      const last = () => document.getElementById("body").lastChild.textContent;
      const times = {};
      for (const query of ["nowhere", "\\"answer 11 \\"", "rain"]) {
        const start = performance.now();
        view.terms = termsOf(query);
        await update();
        times[query] = [view.order.length, Math.round(performance.now() - start)];
      }
      view.terms = [];
      await update();
      // The last page, and one of rows from everywhere.
      const start = performance.now();
      showPage(Math.floor((view.order.length - 1) / PAGE) * PAGE);
      const end = last();
      view.order = Array.from(view.order, (_, i) => (i * 7919) % view.order.length);
      showPage(0);
      const worst = Math.round(performance.now() - start);
      await update();
      return { times, worst, end };
    }""")
    found = {query: value[0] for query, value in times["times"].items()}
    check("last page", f"line-{lines - 1}" in times["end"], times["end"])
    check("search", found["nowhere"] == 0 and found['"answer 11 "'] == 1, found)
    page.locator("#query").fill("onerror")
    wait_for_shown(page, 1)
    page.locator("#body button").first.focus()
    page.keyboard.press("Enter")
    check("sheet", HOSTILE.split()[0] in page.locator("#inside").inner_text(), "has not the text")
    check("images", page.locator("img").count() == 0, "a text has become HTML")
    if rules:
        found = page.evaluate(rules + "; axe.run(document).then((found) => found.violations.map((one) => one.id))")
        check("axe", not found, found)
    page.keyboard.press("Escape")
    check("focus", page.evaluate("document.activeElement.closest('td') != null"), "is not back in its row")
    page.locator("#query").fill("")
    page.locator("#field").select_option("score (line)")
    page.locator("#value").fill(">= 38")
    wait_for_shown(page, len([number for number in range(lines) if number % 50 - 10 >= 38]))
    page.evaluate("sortBy('field', true)")
    shown = page.locator("#body .field").first.text_content()
    check("sorting by a field", shown == "39", shown)
    page.locator("#field").select_option(f"note.{HOSTILE} (line)")
    page.locator("#value").fill("onerror")
    wait_for_shown(page, 1)
    page.locator("#value").fill("")
    page.evaluate("sortBy('', false)")
    page.locator("#filter").select_option("failed")
    wait_for_shown(page, len(range(7, lines, 40)))
    page.locator("#body tr").nth(1).click()
    page.keyboard.press("ArrowRight")
    check("keys", "line-87 " in page.locator("#detail-title").inner_text(), "the arrow did nothing")
    page.keyboard.press("Escape")
    check("console", not logs, logs)
    check("requests", requests == [address], requests)
    return f"loaded in {loaded:.2f} s, searches {times['times']} ms, two pages in {times['worst']} ms"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--lines", type=int, default=400)
    arguments.add_argument("--pictures")
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
        make(folder, given.lines)
        subprocess.run([given.program, "report", folder + "/out.jsonl", "--input", folder + "/in.jsonl"], check=True)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        known = axe_rules()
        for scheme, width in [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)]:
            # The page's policy keeps axe out; at the first look it is in force.
            rules = None if (scheme, width) == ("light", 1280) else known
            context = browser.new_context(
                color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=bool(rules))
            page = context.new_page()
            print(f"{scheme}, {width}: " + look(page, given.lines, f"file://{folder}/out.jsonl.html", rules))
            if given.pictures:
                page.screenshot(path=f"{given.pictures}/{scheme}-{width}.png", full_page=True)
            context.close()
        browser.close()
    print("page.py: fine" + ("" if known else "; axe was not there"))


main()
