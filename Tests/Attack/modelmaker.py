"""Makes model folders from the embedded model: its first two layers, changed as an attack wants."""
import json
import os
import shutil
import struct

LAYERS = 2


def read(path):
    """A safetensors file: its tensors as name -> (dtype, shape, bytes)."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        data = file.read()
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


def layout(tensors):
    """The header of a file with these tensors."""
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    return header


def packed(header, tensors):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values())


class Maker:
    """The two-layer model, from which folders are made."""
    def __init__(self, model, folder):
        self.folder = folder
        os.makedirs(folder)
        self.files = {}
        for name in os.listdir(model):
            if name.endswith(".json"):
                with open(os.path.join(model, name), "rb") as file:
                    self.files[name] = file.read()
        config = json.loads(self.files["config.json"])
        config["num_hidden_layers"] = LAYERS
        self.config = config
        self.files["config.json"] = json.dumps(config).encode()
        tensors = read(os.path.join(model, "model.safetensors"))

        def layer(name):
            return int(name.split(".")[2]) if name.startswith("model.layers.") else -1
        self.tensors = {name: value for name, value in tensors.items() if layer(name) < LAYERS}
        self.weights = os.path.join(folder, "model.safetensors")
        with open(self.weights, "wb") as file:
            file.write(packed(layout(self.tensors), self.tensors))

    def make(self, folder):
        """A folder that is as it should be."""
        os.makedirs(folder)
        for name, content in self.files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        shutil.copyfile(self.weights, os.path.join(folder, "model.safetensors"))
        return Folder(self, folder)


class Folder:
    def __init__(self, maker, path):
        self.maker, self.path = maker, path

    def file(self, name):
        return os.path.join(self.path, name)

    def put(self, name, content):
        if os.path.lexists(self.file(name)):
            os.unlink(self.file(name))
        if content is not None:
            with open(self.file(name), "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())

    def config(self, **changes):
        """Some keys of config.json; `...` removes one."""
        config = {**self.maker.config, **changes}
        self.put("config.json", json.dumps({key: value for key, value in config.items() if value is not ...}))

    def json(self, name, change):
        content = json.loads(self.maker.files[name])
        change(content)
        self.put(name, json.dumps(content))

    def weights(self, change):
        """The tensors, changed."""
        tensors = dict(self.maker.tensors)
        change(tensors)
        self.put("model.safetensors", packed(layout(tensors), tensors))

    def header(self, change):
        """The header alone, changed: as an object, or the text itself if `change` returns bytes."""
        header = layout(self.maker.tensors)
        text = change(header)
        self.put("model.safetensors", packed(text if isinstance(text, bytes) else header, self.maker.tensors))

    def value(self, name, index, number):
        """One number of a tensor, by its place; negative ones count from the end."""
        def change(tensors):
            dtype, shape, data = tensors[name]
            code = {"F16": "<e", "F32": "<f"}[dtype]
            size = struct.calcsize(code)
            place = index * size if index >= 0 else len(data) + index * size
            tensors[name] = (dtype, shape, data[:place] + struct.pack(code, number) + data[place + size:])
        self.weights(change)

    def cut(self, size):
        os.truncate(self.file("model.safetensors"), size)
