"""What reaches a terminal: nothing from data that it would obey; and readers of stderr that don't read."""
import contextlib
import fcntl
import json
import os
import pty
import random
import re
import signal
import struct
import subprocess
import termios
import time

from harness import Failure, Job, Skip, case, expect, results, rows, wait_until

# ESC, BEL, CR, line feed with a forged line, DEL, C1 (CSI), bidirectional override and isolate, line separator.
EVIL = "a\x1b[31mb\x07c\rd\nphibatch: forged\x7fe\x9b2Jf\u202eg\u2066h\u2028i"
PLAIN_EVIL = "a\x1b]0;owned\x07\nphibatch: forged\u202e"


# Control characters but line feed, what turns the direction or breaks lines, and bytes that are no UTF-8.
BAD = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")


def must_be_plain(run, what):
    """Nothing of that on stdout or stderr, and no forged line."""
    for stream in (run.err, run.out):
        text = stream.decode("utf-8", "surrogateescape")
        bad = BAD.search(text)
        expect(not bad, lambda: f"{what}: the terminal gets {ascii(text[max(0, bad.start() - 100):bad.end() + 50])}")
        expect("\nphibatch: forged" not in "\n" + text, f"{what}: a forged line: {ascii(text[-300:])}")


def lines_of_evil():
    return [json.dumps({"id": EVIL, "prompt": "Hi"}), json.dumps({"id": EVIL, "prompt": "again"}),
            json.dumps({"id": "k" + EVIL, EVIL: 1}), json.dumps({"id": "m", "prompt": "x", "max_tokens": EVIL}),
            json.dumps({"id": "r", "messages": [{"role": EVIL, "content": "x"}]}), '{"' + "\x1b[2J" + '": 1}',
            '{"id":"n","prompt":"x",\x1b[31m}', json.dumps({"id": "d", "prompt": {EVIL: 1}}), EVIL.replace("\n", " "),
            json.dumps({"id": "t", "prompt": "x", "temperature": EVIL}), json.dumps({EVIL * 50: EVIL})]


@case("terminal/lines", quick=True)
def evil_lines(bench):
    folder = bench.subfolder("lines")
    job = Job(["--max-tokens", "2", "--threads", "1"], lines_of_evil())
    job.write(folder)
    run = bench.run(bench.command(job.settings), folder)
    run.must_end_with(3)
    must_be_plain(run, "failed lines")
    # Few are shown of each run: one at a time.
    for number, line in enumerate(job.lines):
        # First, as an input whose first line has fields and no prompt is refused whole.
        Job([], ['{"id":"x"}', line]).write(folder)
        run = bench.run(bench.command(job.settings + ["--restart"]), folder, what=f"line {number}")
        run.must_end_with(3, what=f"line {number}")
        must_be_plain(run, f"line {number}")
    run = bench.run(["tokenize", "--model", bench.suite.model], folder, stdin=open(os.path.join(folder, "in.jsonl")))
    must_be_plain(run, "tokenize")
    Job([], [json.dumps({EVIL * 50: EVIL})]).write(folder)
    run = bench.run(bench.command(job.settings + ["--restart"]), folder, what="refused fields")
    run.must_end_with(65, what="refused fields")
    must_be_plain(run, "refused fields")


@case("terminal/paths", quick=True)
def evil_paths(bench):
    evil = PLAIN_EVIL.replace("/", "")
    for name in (evil, "\x9b2J", "tab\there", "o\x7f"):
        folder = bench.subfolder("paths")
        bench.small.write(folder)
        settings = bench.small.settings
        os.symlink(bench.suite.model, os.path.join(folder, f"m{name}"))
        os.symlink("in.jsonl", os.path.join(folder, f"i{name}"))
        with open(os.path.join(folder, f"j{name}"), "w") as file:
            file.write(f"modle: x\n{json.dumps(name)}: 5\n")
        os.mkdir(os.path.join(folder, f"d{name}"))
        good = bench.command(settings, model=f"m{name}", input=f"i{name}", output=f"o{name}")
        commands = [good, good, ["status", *good[1:]], ["status", *good[1:], "--json"],
                    bench.command(settings, output=f"d{name}"), bench.command(settings, model=f"none{name}"),
                    bench.command(settings, input=f"none{name}"), bench.command(settings, model=f"d{name}"),
                    ["run", f"j{name}"], ["run", f"none{name}"], ["run", f"--{name}", "5"], [name], ["run", "j", name],
                    bench.command([f"--max-tokens={name}"]), bench.command(["--prompt", "{{ " + name]),
                    bench.command(settings, output=f"in.jsonl/{name}"), ["tokenize", "--model", f"d{name}"],
                    ["convert", f"i{name}", f"c{name}"], ["bench", "--model", f"d{name}"]]
        for number, command in enumerate(commands):
            what = f"{command[0][:8]!r} {number} with {name[:8]!r}"
            run = bench.run(command, folder, what=what)
            if number < 4:
                run.must_end_with(0, what=what)
            must_be_plain(run, what)


@case("terminal/files")
def evil_files(bench):
    """What an output and a log of somebody else say."""
    folder = bench.subfolder("files")
    bench.small.write(folder)
    settings = bench.small.settings
    for name in ("out.jsonl", "out.jsonl.log"):
        with open(os.path.join(folder, name), "w") as file:
            file.write(json.dumps({"id": EVIL, "run": EVIL, EVIL: EVIL}) + "\n")
        must_be_plain(bench.run(bench.command(settings), folder), f"a foreign {name}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))


# MARK: Nobody reads

def full(number, nonblocking):
    """Writes until no more fits. (A terminal makes room once more when it gets to it.)"""
    os.set_blocking(number, False)
    refusals = 0
    while refusals < 5:
        try:
            os.write(number, b"x" * 4096)
            refusals = 0
        except BlockingIOError:
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(number, b"x")
            refusals += 1
            time.sleep(0.02)
    os.set_blocking(number, not nonblocking)


def with_unread(bench, what, job, ends, more=(), nonblocking=False, number=None):
    """Runs with a stderr that is full and that nobody reads: the output must come all the same."""
    folder = bench.subfolder("unread")
    job.write(folder)
    read, write = ends
    full(write, nonblocking)
    command = bench.command(job.settings + list(more))
    process = bench.start(command, folder, stderr=write, stdout=subprocess.DEVNULL)
    os.close(write)
    try:
        if number:
            wait_until(lambda: bench.has_saved(command, folder), process, 60, "saved tokens")
            process.send_signal(number)
        with contextlib.suppress(Failure):
            run = bench.wait(process, 60, what)
        expect(process.returncode == (128 + number if number else 0),
               f"{what}: {'still running after 60 s' if process.returncode == -9 else f'status {process.returncode}'}"
               f", output {'there' if results(folder) else 'not there'}")
        if not number:
            expect(results(folder) == bench.expected(job), f"{what}: other results")
    finally:
        os.close(read)


def quiet_job(bench):
    """No line fails: nothing that must be said."""
    lines = [json.dumps({"id": f"n{number}", "prompt": f"Tell me story {number}."}) for number in range(24)]
    return Job(["--max-tokens", "40", "--threads", "1"], lines)


@case("terminal/unread-pipe", quick=True)
def unread_pipe(bench):
    job = quiet_job(bench)
    bench.expected(job)
    for more in (["-q"], []):
        with_unread(bench, f"an unread pipe {more}", job, os.pipe(), more)
    with_unread(bench, "an unread pipe that doesn't block", job, os.pipe(), nonblocking=True)


@case("terminal/unread-terminal", alone=True)
def unread_terminal(bench):
    job = quiet_job(bench)
    bench.expected(job)
    try:
        ends = pty.openpty()
    except OSError as error:
        raise Skip(f"no terminal can be made: {error}") from None
    with_unread(bench, "an unread terminal", job, ends)


@case("terminal/unread-signals", alone=True)
def unread_signals(bench):
    from resources import long_job
    job = long_job(bench)
    for number in (signal.SIGTERM, signal.SIGINT):
        with_unread(bench, f"{signal.Signals(number).name} with an unread pipe", job, os.pipe(), number=number)


@case("terminal/input", quick=True)
def terminal_input(bench):
    """Who sits at the terminal is told what is waited for."""
    try:
        own, other = pty.openpty()
    except OSError as error:
        raise Skip(f"no terminal can be made: {error}") from None
    folder = bench.subfolder("input")
    for quiet in ([], ["-q"]):
        command = bench.command(["--max-tokens", "2", "--restart", *quiet], input="-")
        os.write(own, b'{"id":"typed","prompt":"Hi"}\n\x04')
        run = bench.run(command, folder, stdin=other)
        run.must_end_with(0, what="typed input")
        expect((b"Ctrl-D" in run.err) == (not quiet), lambda: f"the hint {quiet}: {run.err!r}")
        expect([row["id"] for row in rows(folder)] == ["typed"], "what was typed is not answered")
    os.close(own)
    os.close(other)


@case("terminal/closed", quick=True)
def closed(bench):
    """A stderr whose reader has gone harms nothing."""
    read, write = os.pipe()
    os.close(read)
    folder = bench.subfolder("closed")
    bench.small.write(folder)
    process = bench.start(bench.command(bench.small.settings), folder, stderr=write, stdout=subprocess.DEVNULL)
    os.close(write)
    bench.wait(process, 60).must_end_with(0, what="a closed stderr")
    expect(results(folder) == bench.expected(bench.small), "a closed stderr: other results")
    # A file that is opened must not get the number of a stream that was closed: messages would go into it.
    command = bench.command([*bench.small.settings, "--restart"])
    subprocess.run(["sh", "-c", 'exec <&- >&- 2>&-; "$@"', "sh", bench.suite.program, *command], cwd=folder, check=True)
    expect(results(folder) == bench.expected(bench.small), "closed streams: other results")


# MARK: A chat

class Typist:
    """The program's chat at a terminal of its own."""
    def __init__(self, bench, arguments, folder, size=(24, 60)):
        try:
            self.own, other = pty.openpty()
        except OSError as error:
            raise Skip(f"no terminal can be made: {error}") from None
        self.resize(*size)
        self.shown = b""

        def own_session():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.bench = bench
        self.process = bench.start(["chat", bench.suite.model, *arguments], folder, stdin=other, stdout=other,
                                   stderr=other, preexec=own_session, environment={"TERM": "xterm"})
        os.close(other)
        os.set_blocking(self.own, False)

    def resize(self, rows, columns):
        fcntl.ioctl(self.own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        with contextlib.suppress(BlockingIOError, OSError):
            self.shown += os.read(self.own, 1 << 16)

    def write(self, data):
        while data:
            self.read()
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self.own, data):]

    def expect(self, text, what):
        def found():
            self.read()
            return text in self.shown
        expect(wait_until(found, self.process, 120, what), lambda: f"{what}: ended: {ascii(self.shown[-300:])}")

    def end(self, what, keys=()):
        """keys: pressed one after the other, each once the program has had a second for the one before: what is typed
        while a line editor sets the terminal up may be lost."""
        keys, deadline = list(keys), time.monotonic() + 120
        pressed = time.monotonic()
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
            if keys and time.monotonic() > pressed + 1:
                self.write(keys.pop(0))
                pressed = time.monotonic()
            time.sleep(0.01)
        self.read()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            raise Failure(f"{what}: still running: {ascii(self.shown[-300:])}")
        modes = termios.tcgetattr(self.own)[3]
        os.close(self.own)
        expect(modes & termios.ECHO and modes & termios.ICANON, f"{what}: the terminal stays without echo")
        return self.process.returncode


@case("terminal/chat", quick=True)
def chat(bench):
    """Keys that are none, windows of all sizes, signals in the middle: the chat ends as it should, and the terminal
    is left as it was."""
    folder = bench.subfolder("chat")
    numbers = random.Random(7)
    pieces = [b"\x1b[", b"\x1b[200~", b"\x1b[201~", b"\x1bO", b"\x1b[1;5D", b"\x1b[A", b"\x1b[B", b"\x7f", b"\x17", b"\x0b",
              b"\x14", b"\x0c", b"\t", b"\xff\xfe", b"\xe6\x97", "\u65e5\u0301\U0001f468\u200d".encode(), b"a b ",
              b"/sy", b"\x01", b"\x05", b"\x1bd", b"\x1b\x7f", b"\x9b2J"]
    for size in ((24, 60), (1, 1), (2, 3)):
        typist = Typist(bench, ["--max-tokens", "2", "--threads", "1"], folder, size)
        typist.expect(b"\x1b[?2004h", "a prompt")
        for number in range(30):
            typist.write(b"z" + b"".join(numbers.choice(pieces) for _ in range(10)))
            if number % 10 == 0:
                typist.resize(numbers.randint(1, 40), numbers.randint(1, 90))
        # Out of a sequence or a paste that was begun, and away with the line.
        typist.write(b"x\x1b[201~")
        expect(typist.end(f"odd keys at {size}", [b"\x03", b"\x04"] * 3) == 0, lambda: f"odd keys at {size}: {ascii(typist.shown[-300:])}")
    talkative = ["--max-tokens", "2000", "--logit-bias", "2=-100", "--threads", "1", "--temperature", "1"]
    typist = Typist(bench, talkative, folder)
    # Edited: a letter too many, and a word that is put before it. A paste of two lines is one question.
    for question in (b"is rainn?\x1b[D\x7f\x01What \r", b"\x1b[200~And snow?\rAnd hail?\x1b[201~\r"):
        typist.expect(b"\x1b[?2004h", "a prompt")
        typist.shown = b""
        typist.write(question)
        typist.expect(b"\x1b[?2004l", "an answer")
        typist.write(b"\x03")
        typist.expect(b"interrupted", "the answer's end")
    typist.shown = b""
    typist.write(b"\x1b[A\x1b[A")
    typist.expect(b"What is rain?", "the line before")
    expect(typist.end("the end", [b"\x03", b"\x04"] * 3) == 0, "the end of a chat")
    # The model is made to write ESC.
    with open(os.path.join(folder, "texts"), "w") as file:
        file.write(json.dumps({"text": "\x1b"}))
    said = bench.run(["tokenize", "--model", bench.suite.model, "texts"], folder)
    escape = json.loads(said.out)["ids"][0]
    typist = Typist(bench, ["--max-tokens", "3", "--logit-bias", f"{escape}=100", "--threads", "1"], folder)
    typist.expect(b"\x1b[?2004h", "a prompt")
    typist.write(b"Hi\r")
    typist.expect(b"\\u{1B}\\u{1B}", "escapes")
    expect(typist.end("the end", [b"\x03", b"\x04"] * 3) == 0, "the end of a chat")
    for number in (signal.SIGTERM, signal.SIGHUP):
        typist = Typist(bench, ["--max-tokens", "500", "--logit-bias", "2=-100", "--threads", "1",
                                "--temperature", "1"], folder)
        typist.expect(b"\x1b[?2004h", "a prompt")
        typist.write(b"Tell me a story.\r")
        typist.expect(b"\x1b[?2004l", "an answer")
        typist.process.send_signal(number)
        expect(typist.end(f"signal {number}") in (-number, 128 + number), lambda: f"signal {number}: {ascii(typist.shown[-300:])}")
