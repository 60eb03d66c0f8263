import JSON
import OperatingSystem
import Testing

@testable import ModelHub

/// Addresses of inputs elsewhere.
@Suite struct DistantTests {
    @Test(arguments: [
        (
            "https://me:pw@host:8/a.jsonl?X-Amz-Signature=1&v=2&sig=3#x",
            "https://host:8/a.jsonl?X-Amz-Signature=...&v=2&sig=..."
        ),
        ("HTTPS://host/a@b?access_token=t", "https://host/a@b?access_token=..."),
        ("s3://bucket/a?b", "s3://bucket/a?b"), ("data/a.jsonl", "data/a.jsonl"),
    ]) func secretsAreNotShown(text: String, shown: String) {
        #expect(Addresses.shown(text) == shown)
    }

    /// No program is asked for what names no object.
    @Test(arguments: ["s3://bucket", "s3://bucket/", "gs:///key", "az://a b/key"])
    func addressesThatNameNoObject(address: String) {
        let error = #expect(throws: UserError.self) { try ObjectStore(address) }
        #expect(error?.kind == .badName)
    }

    @Test func namesOfDatasets() throws {
        let plain = try DatasetAddress("hf://datasets/org/set@v1/data/*.csv")
        #expect(plain.id == RepositoryID("org/set@v1", kind: .dataset) && plain.selector == "data/*.csv")
        #expect(try DatasetAddress("hf://datasets/org/set@a%2Fb").id.revision == "a/b")
        for text in ["hf://org/set", "hf://datasets/org", "hf://datasets/org/se t"] {
            #expect(throws: UserError.self) { try DatasetAddress(text) }
        }
    }

    private func files(_ paths: [String], _ card: JSONValue? = nil) throws -> DatasetFiles {
        DatasetFiles(try #require(RepositoryID("org/set", kind: .dataset)), paths, card: card)
    }

    @Test func splitsGoByNames() throws {
        let named = try files([
            "data/train-1.jsonl", "data/train-0.jsonl", "data/dev.jsonl.gz", "README.md", ".x/train.csv",
        ])
        #expect(try named.chosen(by: "train") == ["data/train-0.jsonl", "data/train-1.jsonl"])
        #expect(try named.chosen(by: "validation") == ["data/dev.jsonl.gz"])
        #expect(
            try named.chosen(by: "data/**") == [
                "data/dev.jsonl.gz", "data/train-0.jsonl", "data/train-1.jsonl",
            ])
        #expect(try named.chosen(by: "data/dev.jsonl.gz") == ["data/dev.jsonl.gz"])
        #expect(throws: UserError.self) { try named.chosen(by: "") }
        #expect(throws: UserError.self) { try named.chosen(by: "test") }
        let folders = try files(["train/1.csv", "test/2.csv", "test/3.json"])
        #expect(try folders.chosen(by: "train") == ["train/1.csv"])
        // These have two formats.
        #expect(throws: UserError.self) { try folders.chosen(by: "test") }
        #expect(try files(["b.csv", "a.csv", "notes.pdf"]).chosen(by: "") == ["a.csv", "b.csv"])
    }

    /// As the library `datasets` (5.2.0) finds them in the same folders.
    @Test(
        arguments: [
            (
                [
                    "data/train_sft-00000-of-00002-aa.jsonl", "data/train_sft-00001-of-00002-bb.jsonl",
                    "data/train_gen-00000-of-00001-cc.jsonl", "data/train.jsonl",
                ], "train_sft", [0, 1]
            ),
            (
                ["data/train.clean.100-00000-of-00001.jsonl", "data/train-00000-of-00001.jsonl"],
                "train.clean.100", [0]
            ),
            (["data/train.v2-00000-of-00001.jsonl", "data/train-00000-of-00001.jsonl"], "train", [1]),
            (["data/valid-00000-of-00001.jsonl", "data/train-00000-of-00001.jsonl"], "valid", [0]),
            (["deep/er/train-00000-of-00001.jsonl", "deep/test-1.jsonl"], "train", [0]),
            (["train/test.jsonl", "test/train.jsonl"], "test", [1]),
            (["my data/train file.jsonl", "retrain.jsonl"], "train", [0]),
            (["training_notes.jsonl", "train.jsonl", "Train.jsonl", "trainer.jsonl"], "train", [0, 1]),
            (["x/my-val2/a.jsonl", "train.jsonl"], "validation", [0]),
            (["dev.jsonl", "train.jsonl", "eval1.jsonl"], "test", [2]),
            (["config.json", "_a/x.jsonl", "__a/x.jsonl", "b.jsonl"], "train", [1, 3]),
        ] as [([String], String, [Int])])
    func splitsAreThoseOfDatasets(paths: [String], split: String, places: [Int]) throws {
        #expect(try files(paths).chosen(by: split) == places.map { paths[$0] }.sorted())
    }

    @Test func severalConfigurationsAndNoDefault() throws {
        func config(_ name: String) -> JSONValue {
            [
                "config_name": .string(name),
                "data_files": [
                    ["split": "train", "path": .string("\(name)/train-*")],
                    ["split": "test", "path": .string("\(name)/test-*")],
                ],
            ]
        }
        let paths = ["main/test-1.jsonl", "main/train-1.jsonl", "soc/test-1.jsonl", "soc/train-1.jsonl"]
        let two = try files(paths, ["configs": [config("main"), config("soc")]])
        for (selector, named) in [("", "org/set/soc/test"), ("train", "org/set/main/train")] {
            let error = #expect(throws: UserError.self) { try two.chosen(by: selector) }
            #expect(error?.kind == .badName && error?.description.contains(named) == true)
        }
        let error = #expect(throws: UserError.self) { try two.chosen(by: "soc") }
        #expect(error?.description.contains("org/set/soc/train") == true)
        #expect(error?.description.contains("main") == false)
        #expect(try two.chosen(by: "soc/train") == ["soc/train-1.jsonl"])
        // One of them is the default; another has its splits by names.
        let named = try files(
            paths, ["configs": [config("main"), ["config_name": "default", "data_dir": "soc"]]])
        #expect(try named.chosen(by: "test") == ["soc/test-1.jsonl"])
        #expect(try named.chosen(by: "main/test") == ["main/test-1.jsonl"])
        #expect(throws: UserError.self) { try named.chosen(by: "") }
    }

    @Test(arguments: [
        ("**", "a/b", true), ("**/b", "b", true), ("**/b", "x/y/b", true), ("a/**", "a", false),
        ("a/**/b", "a/b", true), ("a/*", "a/b/c", false), ("*", ".a", false), ("a", "a/b", false),
        (String(repeating: "**/", count: 60) + "x", String(repeating: "a/", count: 60) + "b", false),
    ]) func patterns(pattern: String, path: String, fits: Bool) {
        #expect(DatasetFiles.pattern(pattern, fits: path) == fits)
    }

    @Test func aCardSaysWhereSplitsAre() throws {
        let card: JSONValue = [
            "configs": [
                ["config_name": "one", "default": true, "data_files": [["split": "train", "path": "x/*"]]],
                ["config_name": "two", "data_files": ["y/a.csv", "y/b.csv"]],
            ]
        ]
        let files = try files(["x/test.csv", "y/a.csv", "y/b.csv", "y/c.csv"], card)
        #expect(try files.chosen(by: "") == ["x/test.csv"] && files.chosen(by: "one/train") == ["x/test.csv"])
        #expect(try files.chosen(by: "two") == ["y/a.csv", "y/b.csv"])
        #expect(JSONValue.cardHead(Array("---\r\na: b\r\n---\r\n# x".utf8)) == "a: b\n")
        #expect(JSONValue.cardHead(Array("# x\n---\n".utf8)) == nil)
    }
}
