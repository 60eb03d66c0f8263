"""Model folders in which files are something else: links, pipes, folders, or not to be read."""
import os
import shutil
import socket

from harness import case
from resources import as_other, needs_root
from models import Trial, all_of


@case("models/links", quick=True)
def links(bench):
    def link(name, target):
        def change(model):
            model.put(name, None)
            os.symlink(target, model.file(name))
        return change
    secret = os.path.join(bench.folder, "secret.json")
    shutil.copyfile(os.path.join(bench.suite.model, "config.json"), secret)
    trials = [(f"{name} -> {os.path.basename(target)}", link(name, target)) for name in
              ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
              for target in (secret, "../in.jsonl", name, "/dev/zero", "/proc/self/mem")]
    trials += [(f"{name} -> nothing", link(name, "none")) for name in ("config.json", "model.safetensors")]
    all_of(bench, trials)


@case("models/special-files")
def special(bench):
    def pipe(name):
        def change(model):
            model.put(name, None)
            os.mkfifo(model.file(name))
        return change

    def folder(name):
        def change(model):
            model.put(name, None)
            os.mkdir(model.file(name))
        return change

    def unix_socket(name):
        def change(model):
            model.put(name, None)
            # Its path may be too long for an address.
            here = socket.socket(socket.AF_UNIX)
            there = os.open(model.path, os.O_RDONLY)
            here.bind(f"/proc/self/fd/{there}/{name}")
            os.close(there)
        return change
    names = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "generation_config.json"]
    trials = [(f"{name} is a {kind}", make(name)) for name in names
              for kind, make in (("pipe", pipe), ("folder", folder), ("socket", unix_socket))]
    trials += [("the index is a pipe", pipe("model.safetensors.index.json"), {"codes": (0, 69)}),
               ("another file is a pipe", pipe("other.safetensors"), {"codes": (0, 69)})]
    trials += [(f"{name} is empty", lambda model, name=name: model.put(name, "")) for name in names]
    trials += [(f"no {name}", lambda model, name=name: model.put(name, None)) for name in names[:2]]
    all_of(bench, trials)


@case("models/unreadable")
def unreadable(bench):
    needs_root(bench)
    for name in ("config.json", "model.safetensors", "tokenizer.json", "."):
        trial = Trial(bench)
        os.chmod(trial.folder, 0o777)
        os.chmod(trial.model.file(name), 0)
        trial.run(preexec=as_other()).must_end_with(69, what=f"{name} is not readable")
    trial = Trial(bench)
    os.chmod(trial.folder, 0o777)
    trial.run(preexec=as_other()).must_end_with(0, what="another user's run")
