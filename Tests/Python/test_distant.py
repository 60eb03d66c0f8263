"""Inputs and outputs that lie elsewhere, with real servers on the loopback address."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from conftest import needs
from loopback import TOKEN, Hub, Web

from phibatch._program import program

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


class Place:
    """A folder with a job, whose program sees no variables but these."""

    def __init__(self, folder: Path, model: str) -> None:
        self.folder, self.model = folder, model
        self.output = folder / "out.jsonl"
        self.variables = {
            "HOME": str(folder), "PATH": os.environ["PATH"], "PHIBATCH_CACHE": str(folder / "cache"),
            "HF_HOME": str(folder / "hf"), "HF_ENDPOINT": "http://127.0.0.1:9",
            "AWS_EC2_METADATA_DISABLED": "true"}

    def call(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        command = [program(), *map(str, arguments)]
        done = subprocess.run(command, env=self.variables, cwd=self.folder, capture_output=True, text=True, timeout=600)
        assert SECRET not in done.stdout + done.stderr
        return done

    def run(self, source: Any, *more: Any, output: Any = None, status: int = 0) -> subprocess.CompletedProcess[str]:
        arguments = ["--model", self.model, "--max-tokens", 2]
        done = self.call("run", "--input", source, "--output", output or self.output, *arguments, *more)
        assert done.returncode == status, done.stderr
        return done

    def ids(self) -> List[str]:
        return [json.loads(line)["id"] for line in self.output.read_text().splitlines()]

    def everything(self) -> bytes:
        """All that was written, but for what was fetched."""
        files = [path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()]
        return b"".join(path.read_bytes() for path in files)


@pytest.fixture
def place(tmp_path: Path, model: str) -> Place:
    return Place(tmp_path, model)


@pytest.fixture
def hub(place: Place) -> Iterator[Hub]:
    with Hub() as server:
        place.variables |= {"HF_ENDPOINT": server.address, "HF_TOKEN": TOKEN}
        yield server


def rows(*ids: str, text: str = "Hello") -> bytes:
    return "".join(json.dumps({"id": one, "prompt": text}) + "\n" for one in ids).encode()


def test_a_dataset(place: Place, hub: Hub) -> None:
    first = hub.make("org/set", {
        "README.md": b"# A set", "data/train-00000-of-00002.jsonl": rows("a", "b"),
        "data/train-00001-of-00002.jsonl": rows("c", text="x" * 300), "data/test-00000-of-00001.jsonl": rows("t")})
    assert "several splits" in place.run("hf://datasets/org/set", status=69).stderr
    assert "Its splits: train, test" in place.run("hf://datasets/org/set/dev", status=69).stderr
    place.run("hf://datasets/org/set/train", "--provenance")
    assert place.ids() == ["a", "b", "c"] and not hub.leaks
    files = json.loads(Path(f"{place.output}.manifest.json").read_text())["input"]
    assert files[0]["source"] == f"hf://datasets/org/set@{first}/data/train-00000-of-00002.jsonl"
    # The same cache as huggingface_hub's.
    cached = place.folder / "hf/hub/datasets--org--set"
    assert (cached / "refs/main").read_text() == first
    link = cached / f"snapshots/{first}/data/train-00001-of-00002.jsonl"
    assert link.is_symlink() and link.read_bytes() == rows("c", text="x" * 300)
    needs("huggingface_hub")
    code = "import sys; from huggingface_hub import hf_hub_download as d; print(d(*sys.argv[1:], repo_type='dataset'))"
    name = "data/train-00001-of-00002.jsonl"
    found = subprocess.run([sys.executable, "-c", code, "org/set", name], text=True, capture_output=True,
                           env={**place.variables, "HF_HUB_OFFLINE": "1"}, timeout=600)
    assert found.stdout.strip() == str(link), found.stderr
    # Another commit is another input, but to what asks for the first.
    hub.datasets["org/set"].commit("main", {"data/train-00000-of-00002.jsonl": rows("a", "new")})
    place.run(f"hf://datasets/org/set@{first}/data/*-00000-of-00002.jsonl", "--offline", status=69)
    place.run(f"hf://datasets/org/set@{first}/data/*-00000-of-00002.jsonl", output=place.folder / "first.jsonl")
    place.run("hf://datasets/org/set/train", "--provenance", "--prune")
    assert place.ids() == ["a", "new", "c"]
    hub.server.server_close()
    place.run("hf://datasets/org/set/train", "--offline", "--provenance")


def test_configs(place: Place, hub: Hub) -> None:
    card = b"---\nconfigs:\n- config_name: easy\n  data_files:\n  - split: train\n    path: e/*.csv\n  - split: test\n" \
           b"    path:\n    - t.csv\n- config_name: hard\n  data_dir: h\n---\n# Set\n"
    hub.make("org/set", {"README.md": card, "e/1.csv": b"id,prompt\n1,Hi\n", "t.csv": b"id,prompt\n2,Hi\n",
                         "h/3.csv": b"id,prompt\n3,Hi\n"})
    assert "org/set/easy/test" in place.run("hf://datasets/org/set/test", status=69).stderr
    for name, ids in [("easy/train", ["1"]), ("easy/test", ["2"]), ("hard", ["3"])]:
        place.output = place.folder / f"{name.replace('/', '-')}.jsonl"
        place.run(f"hf://datasets/org/set/{name}")
        assert place.ids() == ids


def test_a_run_goes_on_with_what_it_began_with(place: Place, hub: Hub) -> None:
    """A log names the commit: the dataset moves on, the run does not."""
    hub.make("org/set", {"train.jsonl": rows("a", "b", "c") + b'{"id": "d"}\n'})
    place.run("hf://datasets/org/set/train", "--max-failures", 0, status=3)
    assert Path(f"{place.output}.log").exists()
    hub.datasets["org/set"].commit("main", {"train.jsonl": rows("a", "e")})
    done = place.run("hf://datasets/org/set/train", "--max-failures", 1)
    assert place.ids() == ["a", "b", "c", "d"] and "as the results have it" in done.stderr
    # So does whoever looks at them.
    assert place.call("verify", place.output, "--input", "hf://datasets/org/set/train", "--model", place.model,
                      "--max-tokens", 2, "--max-failures", 1).returncode == 0


def test_the_web(place: Place) -> None:
    with Web() as web:
        content = b"".join(rows(f"{number}", text="Hi") for number in range(20_000))
        web.files["/in.jsonl"], web.cuts["/in.jsonl"] = content, [100_000, 150_000]
        address = f"http://me:{SECRET.replace('/', '%2F')}@127.0.0.1:{web.port}/in.jsonl?sig={SECRET}&v=1"
        done = place.run(address, "--limit", 2)
        assert [fields.get("range") for _, fields in web.asked("GET", "/in.jsonl")] == [
            None, "bytes=100000-", "bytes=250000-"]
        assert f"127.0.0.1:{web.port}/in.jsonl?sig=...&v=1" in done.stderr
        assert all(fields["authorization"].startswith("Basic ") for _, fields in web.asked("GET", "/in.jsonl"))
        copies = list((place.folder / "cache/inputs").rglob("in.jsonl"))
        assert [copy.read_bytes() for copy in copies] == [content]
        assert SECRET.encode() not in place.everything()
        said = place.call("status", "--input", address, "--limit", 3, "--output", place.output, "--model", place.model,
                          "--max-tokens", 2)
        assert said.returncode == 14 and "sig=..." in said.stdout
        # It changes between two attempts: nothing of the first is kept.
        web.cuts["/in.jsonl"], web.files["/in.jsonl"] = [100_000], content.replace(b"Hi", b"Ho")
        web.after_cut = lambda: web.files.update({"/in.jsonl": content.replace(b"Hi", b"Hu")})
        place.run(address, "--limit", 2, output=place.folder / "changed.jsonl")
        assert content.replace(b"Hi", b"Hu") in [
            copy.read_bytes() for copy in (place.folder / "cache/inputs").rglob("in.jsonl")]
        assert len(list((place.folder / "cache/inputs").rglob("in.jsonl"))) == 2
        # What lets somebody in stays with the host that was asked.
        web.moved["/moved.jsonl"] = f"{web.other}/in.jsonl?there"
        place.run(address.replace("/in.jsonl", "/moved.jsonl"), "--limit", 1, output=place.folder / "moved.jsonl")
        assert [("authorization" in fields) for _, fields in web.asked("GET", "there")] == [False]
        lost = place.run(f"{web.address}/no.jsonl", status=69).stderr
        assert "there is no such file" in lost and "404" in lost


FAKE = """
import hashlib, json, os, sys

name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
with open(LOG, "a") as file:
    file.write(json.dumps({"program": name, "words": words, "names": sorted(os.environ)}) + "\\n")


def path(address):
    place = address.partition("://")[2] if "://" in address else address.rpartition(":")[2]
    if "#" in place and name == "gcloud":
        place = place.rpartition("#")[0]
    return os.path.join(STORE, place)


def state(path):
    with open(path, "rb") as file:
        content = file.read()
    tag, time = hashlib.sha1(content).hexdigest(), f"2026-01-01T00:00:{len(content) % 60:02}.5Z"
    return {"aws": {"Size": len(content), "tag": tag}, "gcloud": {"size": len(content), "generation": tag},
            "rclone": {"Size": len(content), "ModTime": time, "IsDir": False}}[name]


def listing(start, base):
    found = [os.path.join(folder, one) for folder, _, names in os.walk(STORE) for one in names]
    label = {"aws": "name", "gcloud": "name", "rclone": "Path"}[name]
    return [{label: os.path.relpath(one, base), **state(one)} for one in found if one.startswith(start)]


def copy(source, target):
    if os.path.basename(source) == "broken.jsonl":
        print("first line\\nit broke", file=sys.stderr)
        sys.exit(3)
    with open(source, "rb") as file:
        content = file.read()
    with open(target, "wb") as file:
        file.write(content)
    if os.path.basename(source) == "changing.jsonl":
        with open(source, "ab") as file:
            file.write(b" ")


if words[:2] in (["s3api", "list-objects-v2"], ["s3api", "head-object"]):
    wanted = json.loads(words[-1])
    assert words[-2] == "--cli-input-json"
    bucket = os.path.join(STORE, wanted["Bucket"])
    if words[1] == "head-object":
        if not os.path.isfile(os.path.join(bucket, wanted["Key"])):
            sys.exit("\\nAn error occurred (404) when calling the HeadObject operation: Not Found")
        print(json.dumps(state(os.path.join(bucket, wanted["Key"]))))
    else:
        print(json.dumps(listing(f"{bucket}/{wanted['Prefix']}", bucket) or None))
elif words[:3] == ["storage", "objects", "list"]:
    bucket = os.path.join(STORE, words[-1].split("/")[2])
    start = path(words[-1])
    print(json.dumps(listing(start[:-2], bucket) if start.endswith("**") else
                     [one for one in listing(start, bucket) if f"{bucket}/{one['name']}" == start]))
elif words[0] == "lsjson" and "--stat" in words:
    print(json.dumps(state(path(words[-1])) if os.path.isfile(path(words[-1])) else {"IsDir": True, "Size": -1}))
elif words[0] == "lsjson":
    print(json.dumps(listing(path(words[-1]), path(words[-1]))))
else:
    assert words[:2] in (["s3", "cp"], ["storage", "cp"]) or words[0] == "copyto"
    source, target = [one if one.startswith("/") else path(one) for one in words[-2:]]
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # As gcloud does.
    copy(source, os.path.join(target, os.path.basename(source)) if os.path.isdir(target) else target)
"""


class Store:
    """A store of objects in a folder, and programs that reach it: those alone are on PATH."""

    def __init__(self, place: Place, *programs: str) -> None:
        self.folder, self.log, self.bin = place.folder / "store/bucket", place.folder / "log", place.folder / "bin"
        self.folder.mkdir(parents=True)
        self.bin.mkdir()
        text = f"#!{sys.executable} -I\nSTORE, LOG = {str(self.folder.parent)!r}, {str(self.log)!r}\n{FAKE}"
        for program in programs:
            (self.bin / program).write_text(text)
            (self.bin / program).chmod(0o755)
        place.variables["PATH"] = str(self.bin)

    def put(self, key: str, content: bytes) -> None:
        (self.folder / key).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / key).write_bytes(content)

    def calls(self) -> List[Dict[str, Any]]:
        """Those since this was last asked."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]

    def copies(self) -> List[str]:
        """Addresses and paths from which was copied since this was last asked."""
        return [call["words"][-2] for call in self.calls() if call["words"][1] == "cp" or call["words"][0] == "copyto"]


WAYS = [("s3", "aws"), ("s3", "rclone"), ("gs", "gcloud"), ("gs", "rclone"), ("az", "rclone")]


@pytest.mark.parametrize("scheme,program", WAYS)
def test_objects(place: Place, scheme: str, program: str) -> None:
    store, url = Store(place, program), f"{scheme}://bucket"
    for key, ids in [("in/a b+c.jsonl", "12"), ("in/\u00fc.jsonl", "34"), ("in/deep/-x.jsonl", "5"), ("in/x.txt", "6")]:
        store.put(key, rows(*ids))
    place.variables |= {"PYTHONPATH": "/nowhere", "AWS_PROFILE": "mine", "RCLONE_CONFIG": "/none"}
    place.run(f"{url}/in/*.jsonl")
    assert place.ids() == ["1", "2", "3", "4"]
    calls = store.calls()
    assert {call["program"] for call in calls} == {program}
    assert all({"HOME", "AWS_PROFILE", "RCLONE_CONFIG"} <= set(call["names"]) for call in calls)
    assert not any("PYTHONPATH" in call["names"] for call in calls)
    # A run again fetches nothing that is the same.
    place.run(f"{url}/in/*.jsonl")
    assert store.copies() == []
    store.put("in/\u00fc.jsonl", rows("3", "9", "10"))
    place.run(f"{url}/in/*.jsonl", "--prune")
    assert place.ids() == ["1", "2", "3", "9", "10"] and len(store.copies()) == 1
    place.run(f"{url}/in/deep/", output=place.folder / "deep.jsonl")
    place.run(f"{url}/in/**/-x.jsonl", output=place.folder / "also.jsonl")
    place.run(f"{url}/in/deep/-x.jsonl", "--offline", output=place.folder / "one.jsonl", status=69)
    place.run(f"{url}/in/deep/-x.jsonl", output=place.folder / "one.jsonl")
    assert len(store.copies()) == 1
    assert "no such object" in place.run(f"{url}/out/*.jsonl", status=69).stderr
    lost = place.run(f"{url}/in/none.jsonl", status=69).stderr
    assert "aws ended with 1: An error occurred (404)" in lost if program == "aws" else "no such object" in lost
    fetched = [path for path in (place.folder / "cache/inputs").rglob("*.jsonl")]
    assert len(fetched) == 4 and not any(path.stat().st_mode & 0o077 for path in fetched)


@pytest.mark.parametrize("scheme,program", WAYS)
def test_objects_that_fail(place: Place, scheme: str, program: str) -> None:
    store, url = Store(place, program), f"{scheme}://bucket"
    for key in ("a.jsonl", "broken.jsonl"):
        store.put(key, rows(key))
    done = place.run(f"{url}/*.jsonl", status=69)
    assert f"{program} ended with 3: first line; it broke" in done.stderr
    store.calls()
    # What came whole stays.
    (store.folder / "broken.jsonl").rename(store.folder / "b.jsonl")
    place.run(f"{url}/*.jsonl")
    assert place.ids() == ["a.jsonl", "broken.jsonl"]
    assert [one.rpartition("/")[2][:2] for one in store.copies()] == ["b."]
    store.put("changing.jsonl", rows("c"))
    assert "changed while it was fetched" in place.run(f"{url}/changing.jsonl", status=69).stderr
    assert not list((place.folder / "cache/inputs").rglob("changing.jsonl"))
    listed = json.dumps([dict.fromkeys(["name", "Path"], "../../x.jsonl") | dict.fromkeys(["Size", "size"], 1)
                         | dict.fromkeys(["tag", "generation", "ModTime"], "t")])
    (store.bin / program).write_text(f"#!/bin/sh\necho '{listed}'\n")
    assert '".."' in place.run(f"{url}/in/", status=69).stderr
    (store.bin / program).write_text('#!/bin/sh\necho \'[{"name": "in/x", "Path": "in/x"}]\'\n')
    assert "without size" in place.run(f"{url}/in/", status=69).stderr
    (store.bin / program).write_text("#!/bin/sh\nwhile :; do echo '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[['; done\n")
    assert "prints more than 64 MiB" in place.run(f"{url}/in/", status=69).stderr
    (store.bin / program).write_text("#!/bin/sh\necho no JSON\n")
    assert f"{program} prints no JSON" in place.run(f"{url}/in/", status=69).stderr
    (store.bin / program).write_text("#!/bin/sh\nkill -9 $$\n")
    assert "was ended by signal 9" in place.run(f"{url}/in/", status=69).stderr
    # The working directory is no place for programs.
    (store.bin / program).rename(place.folder / program)
    (place.folder / "none").mkdir()
    place.variables["PATH"] = f":.:bin:{place.folder / 'none'}"
    missing = place.run(f"{url}/in/", status=69).stderr
    assert "on PATH" in missing and program in missing and "rclone" in missing


@pytest.mark.parametrize("scheme,program", WAYS)
def test_output_to_a_store(place: Place, scheme: str, program: str) -> None:
    store, output = Store(place, program), f"{scheme}://bucket/out/r 1.jsonl"
    source = place.folder / "in.jsonl"
    source.write_bytes(rows("a", "b"))
    # The store takes nothing: all is kept, and the same command sends it.
    store.folder.chmod(0o500)
    (store.bin / program).rename(store.bin / "away")
    done = place.run(source, "--provenance", output=output, status=69)
    assert "on PATH" in done.stderr and "the same command sends them" in done.stderr
    store.folder.chmod(0o700)
    (store.bin / "away").rename(store.bin / program)
    place.run(source, "--provenance", output=output)
    there = (store.folder / "out/r 1.jsonl").read_bytes()
    local = next((place.folder / "cache/outputs").rglob("r 1.jsonl"))
    assert there == local.read_bytes() and there.count(b"\n") == 2 and len(store.copies()) == 2
    manifest = json.loads((store.folder / "out/r 1.jsonl.manifest.json").read_bytes())
    assert manifest["output"]["sha256"] == hashlib.sha256(there).hexdigest()
    # Sent again is only what is not there, the same.
    assert "had already" in place.run(source, "--provenance", output=output).stderr and store.copies() == []
    store.put("out/r 1.jsonl", b"another")
    place.run(source, "--provenance", output=output)
    assert (store.folder / "out/r 1.jsonl").read_bytes() == there and len(store.copies()) == 1
    # A folder of the output's name is no output.
    store.put("out2/x", b"x")
    assert "is not what was sent" in place.run(source, output=f"{scheme}://bucket/out2", status=69).stderr \
        or program != "gcloud"


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    needs("moto")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.mark.parametrize("program", ["aws", "rclone"])
def test_a_real_store(place: Place, moto: str, program: str) -> None:
    import boto3

    path = shutil.which(program)
    if not path:
        pytest.skip(f"{program} is not on PATH")
    client = boto3.client("s3", endpoint_url=moto, region_name="eu-west-1", aws_access_key_id="AKIDEXAMPLE",
                          aws_secret_access_key=SECRET)
    bucket = f"bucket-{program}"
    client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    for key, ids in [("in/a b+c.jsonl", "12"), ("in/\u00fc.jsonl", "34"), ("in/deep/x.jsonl", "5"), ("in/x.txt", "6")]:
        client.put_object(Bucket=bucket, Key=key, Body=rows(*ids))
    (place.folder / "bin").mkdir()
    (place.folder / "bin" / program).write_text(f'#!/bin/sh\nPATH={os.environ["PATH"]} exec {path} "$@"\n')
    (place.folder / "bin" / program).chmod(0o755)
    place.variables |= {
        "PATH": str(place.folder / "bin"), "AWS_ENDPOINT_URL": moto, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": "eu-west-1"}
    place.run(f"s3://{bucket}/in/*.jsonl")
    assert place.ids() == ["1", "2", "3", "4"]
    place.run(f"s3://{bucket}/in/deep/", output=place.folder / "deep.jsonl")
    assert "none.jsonl" in place.run(f"s3://{bucket}/in/none.jsonl", status=69).stderr
    place.run(f"s3://no-{bucket}/in/x.txt", status=69)
    output = f"s3://{bucket}/out/r 1.jsonl"
    assert "has what is in" in place.run(f"s3://{bucket}/in/x.txt", output=output).stderr
    there = client.get_object(Bucket=bucket, Key="out/r 1.jsonl")["Body"].read()
    assert there == next((place.folder / "cache/outputs").rglob("r 1.jsonl")).read_bytes()
    assert "had already" in place.run(f"s3://{bucket}/in/x.txt", output=output).stderr
    assert SECRET.encode() not in place.everything()


HF = """
import json, os, shutil, sys

shutil.copytree(sys.argv[3], os.path.join(PLACE, "pushed"), dirs_exist_ok=True)
with open(os.path.join(PLACE, "said"), "w") as file:
    json.dump(sys.argv[1:], file)
print("one\\ntwo", file=sys.stderr)
sys.exit("--revision=bad" in sys.argv)
"""


def test_push(place: Place, hub: Hub) -> None:
    """What hf is given to upload, with which arguments, and what it says when it fails."""
    bin, pushed = place.folder / "bin", place.folder / "pushed"
    hub.make("org/set", {"train.jsonl": rows("a", "b")})
    job, answers = place.folder / "job.yaml", place.folder / "answers.jsonl"
    job.write_text(f"model: {json.dumps(place.model)}\ninput: hf://datasets/org/set/train\noutput: answers.jsonl\n"
                   "max_tokens: 3\nkeep: [prompt]\n")
    bin.mkdir()
    place.variables["PATH"] = str(bin)
    assert "pip install huggingface_hub" in place.call("push", job, "org/answers").stderr
    (bin / "hf").write_text(f"#!{sys.executable} -I\nPLACE = {str(place.folder)!r}\n{HF}")
    (bin / "hf").chmod(0o755)
    assert "\"phibatch run\" fetches it" in place.call("push", job, "org/answers").stderr
    assert place.call("run", job).returncode == 0
    done = place.call("push", job, "org/answers", "--private")
    assert done.returncode == 0 and done.stdout == f"{hub.address}/datasets/org/answers\n", done.stderr
    words = json.loads((place.folder / "said").read_text())
    assert words[:2] == ["upload", "org/answers"] and words[3:5] == [".", "--repo-type=dataset"]
    assert {"--revision=main", "--private", "--quiet"} <= set(words) and not Path(words[2]).exists()
    assert (pushed / "data/answers.jsonl").read_bytes() == answers.read_bytes()
    assert (pushed / "job.yaml").read_bytes() == job.read_bytes() and (pushed / "data/answers.jsonl.manifest.json").exists()
    card = (pushed / "README.md").read_text()
    assert "results: 2\n" in card and "phibatch verify data/answers.jsonl job.yaml" in card
    # As Python's own programs find it.
    if importlib.util.find_spec("datasets"):
        code = "import sys, datasets; print(datasets.load_dataset(sys.argv[1], split='train').num_rows)"
        found = subprocess.run([sys.executable, "-c", code, pushed], env=place.variables, text=True,
                               capture_output=True, timeout=600)
        assert found.stdout.strip() == "2", found.stderr
    # A card that its owner has changed stays.
    hub.make("org/answers", {"README.md": b"---\nlicense: mit\n---\n"})
    (pushed / "README.md").unlink()
    again = place.call("push", answers, "org/answers", "--revision", "v2")
    assert again.returncode == 0 and "README.md is there already" in again.stderr, again.stderr
    assert not (pushed / "README.md").exists()
    assert "public" in place.call("push", job, "org/set", "--private").stderr
    failed = place.call("push", answers, "org/answers", "--revision", "bad")
    assert failed.returncode == 69 and "hf ended with 1: one; two" in failed.stderr
    for name in ("-x/new", "org/..", "org/new@main"):
        assert place.call("push", "--", answers, name).returncode == 69
    with open(answers, "a") as output:
        output.write("{}\n")
    assert place.call("push", answers, "org/answers").returncode == 65
