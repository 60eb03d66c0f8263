"""Near-duplicates that `distinct` finds, beside exact counting and the Python package datasketch.

    python3 Tests/Benchmarks/Steps/duplicates.py .build/release/phibatch --model FOLDER [--rows 1000] [--near 0.8]

Makes rows of which a third are edited copies of earlier ones, and runs a job that compares them. Right is what an exact
comparison of the pieces of five characters says, row by row, with the rows that were kept so far. Prints precision and
recall of phibatch and, where pip can install it, of datasketch's MinHash with as many permutations.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

WORDS = ("sea bread bicycle snow bee salt train rain glass garden red old small new quick cold warm long bright empty of in "
         "near under beside after before with without from to seven nine eleven euros hours days street market mill lane").split()


def texts(count):
    random.seed(7)
    made = []
    for _ in range(count):
        if made and random.random() < 0.33:
            words = random.choice(made).split()
            for _ in range(random.randint(0, 6)):
                words[random.randrange(len(words))] = random.choice(WORDS)
        else:
            words = random.choices(WORDS, k=random.randint(20, 40))
        made.append(" ".join(words))
    return made


def pieces(text):
    return {text[start:start + 5] for start in range(max(1, len(text) - 4))}


def exact(all, near):
    kept, dropped = [], set()
    for number, text in enumerate(all):
        own = pieces(text)
        if any(len(own & other) >= near * len(own | other) for other in kept):
            dropped.add(number)
        else:
            kept.append(own)
    return dropped


def phibatch(program, model, all, near):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "in.jsonl"), "w") as file:
            for number, text in enumerate(all):
                file.write(json.dumps({"id": str(number), "said": text}) + "\n")
        job = {"model": model, "input": "in.jsonl", "output": "out.jsonl", "max_tokens": 1, "steps": [
            {"name": "row", "prompt": "{{ said[:20] }}", "distinct": {"text": "said", "near": near}}]}
        with open(os.path.join(folder, "job.json"), "w") as file:
            json.dump(job, file)
        subprocess.run([program, "run", "-q", os.path.join(folder, "job.json")], check=True)
        with open(os.path.join(folder, "out.jsonl")) as file:
            return {int(row["id"]) for row in map(json.loads, file) if "duplicate_of" in row}


def datasketch(all, near):
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError:
        return None
    index = MinHashLSH(threshold=near, num_perm=128)
    dropped = set()
    for number, text in enumerate(all):
        hash = MinHash(num_perm=128)
        for piece in pieces(text):
            hash.update(piece.encode())
        if index.query(hash):
            dropped.add(number)
        else:
            index.insert(str(number), hash)
    return dropped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--near", type=float, default=0.8)
    options = parser.parse_args()
    all = texts(options.rows)
    right = exact(all, options.near)
    print("%d rows, %d of them near-duplicates" % (len(all), len(right)))
    found = {"phibatch": phibatch(os.path.abspath(options.program), os.path.abspath(options.model), all, options.near),
             "datasketch": datasketch(all, options.near)}
    for name, own in found.items():
        if own is None:
            print("%-10s is not there" % name)
            continue
        both = len(own & right)
        print("%-10s precision %.3f, recall %.3f" % (name, both / max(1, len(own)), both / max(1, len(right))))


main()
