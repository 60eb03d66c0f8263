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
        let error = #expect(throws: HubError.self) { try ObjectStore(address) }
        #expect(error?.kind == .badName)
    }

    @Test func namesOfDatasets() throws {
        let plain = try DatasetAddress("hf://datasets/org/set@v1/data/*.csv")
        #expect(plain.id == RepositoryID("org/set@v1", kind: .dataset) && plain.selector == "data/*.csv")
        let converted = try DatasetAddress("hf://datasets/org/set@refs/convert/parquet/train")
        #expect(converted.id.revision == "refs/convert/parquet" && converted.selector == "train")
        #expect(try DatasetAddress("hf://datasets/org/set@a%2Fb").id.revision == "a/b")
        for text in ["hf://org/set", "hf://datasets/org", "hf://datasets/org/se t"] {
            #expect(throws: HubError.self) { try DatasetAddress(text) }
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
        #expect(throws: HubError.self) { try named.chosen(by: "") }
        #expect(throws: HubError.self) { try named.chosen(by: "test") }
        let folders = try files(["train/1.csv", "test/2.csv", "test/3.json"])
        #expect(try folders.chosen(by: "train") == ["train/1.csv"])
        // These have two formats.
        #expect(throws: HubError.self) { try folders.chosen(by: "test") }
        #expect(try files(["b.csv", "a.csv", "notes.pdf"]).chosen(by: "") == ["a.csv", "b.csv"])
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
