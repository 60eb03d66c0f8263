import JSON
import OperatingSystem
import Testing

@testable import ModelHub

/// What addresses of inputs elsewhere mean, and who asks there.
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

    /// The examples of S3's reference.
    @Test(
        HubBench.needsCurl,
        arguments: [
            ("lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            ("prefix=J&max-keys=2", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ]) func requestsAreSigned(query: String, signature: String) throws
    {
        let signer = RequestSigner(
            id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            region: "us-east-1")
        let curl = try Curl.load()
        let address = try #require(WebAddress("https://examplebucket.s3.amazonaws.com/?\(query)", curl))
        let fields = signer.fields(
            "GET", address, ["Range: bytes=0-9"], payload: try RequestBody([]).sha256(),
            now: UTCTime(seconds: 1_369_353_600))
        #expect(
            fields.last?.hasSuffix(
                " SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=\(signature)") == true)
    }

    @Test func keysAreWhereAmazonsProgramsLookForThem() throws {
        let folder = try TestFiles.folder()
        defer { TestFiles.remove(folder) }
        try Files.replaceContents(
            of: "\(folder)/keys",
            with: Array("[default]\n# x\n[ mine ]\naws_access_key_id = A\naws_secret_access_key=b=c\n".utf8))
        try Files.replaceContents(
            of: "\(folder)/config", with: Array("[profile mine]\nregion = cn-north-1\n".utf8))
        var variables = [
            "AWS_SHARED_CREDENTIALS_FILE": "\(folder)/keys", "AWS_CONFIG_FILE": "\(folder)/config",
            "AWS_PROFILE": "mine",
        ]
        func settings(_ scheme: String = "s3") throws -> CloudSettings {
            try CloudSettings(scheme: scheme) { variables[$0] }
        }
        let mine = try settings()
        guard case .signed(let signer) = mine.access else {
            throw HubError(.forbidden, "s3", "is not signed.")
        }
        #expect(signer.id == "A" && signer.secret == "b=c" && signer.region == "cn-north-1")
        #expect(mine.address(bucket: "b", path: "/k") == "https://b.s3.cn-north-1.amazonaws.com.cn/k")
        variables["AWS_ENDPOINT_URL"] = "http://localhost:9000/"
        #expect(try settings().address(bucket: "b", path: "/k") == "http://localhost:9000/b/k")
        variables["AWS_PROFILE"] = "other"
        #expect(throws: HubError.self) { try settings() }
        variables["GOOGLE_OAUTH_ACCESS_TOKEN"] = "t"
        guard case .bearer("t") = try settings("gs").access else {
            throw HubError(.forbidden, "gs", "has no token.")
        }
    }

    /// What gives a key by a configuration, or why nothing does.
    @Test(arguments: [
        ("source_profile=base\n[profile base]\nKEY", "the role R, by the key of the profile base"),
        ("source_profile=default\nKEY", "the role R, by the key of the profile default"),
        ("credential_source=Environment", "the role R, by the key of AWS_ACCESS_KEY_ID"),
        (
            "source_profile=m\n[profile m]\nrole_arn=M\ncredential_source=EcsContainer",
            "the role R, by the role M, by the container's key"
        ),
        (
            "source_profile=m\n[profile m]\nrole_arn=M\nsource_profile=default",
            "default: its source_profile leads"
        ),
        ("source_profile=none", "no key to ask for it with"), ("KEY", "no key to ask for it with"),
        ("source_profile=default\ncredential_source=Environment\nKEY", "no key to ask for it with"),
        ("source_profile=default\nmfa_serial=1\nKEY", "mfa_serial"),
    ]) func rolesAreAskedForWithAKey(config: String, expected: String) throws {
        let folder = try TestFiles.folder()
        defer { TestFiles.remove(folder) }
        let key = "aws_access_key_id=A\naws_secret_access_key=b"
        let text = "[default]\nrole_arn=R\n\(config)\n".replacing("KEY", with: key)
        try Files.replaceContents(of: "\(folder)/config", with: Array(text.utf8))
        var variables = [
            "AWS_CONFIG_FILE": "\(folder)/config", "AWS_SHARED_CREDENTIALS_FILE": "\(folder)/none",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/here",
        ]
        if config.hasSuffix("=Environment") {
            variables["AWS_ACCESS_KEY_ID"] = "E"
            variables["AWS_SECRET_ACCESS_KEY"] = "f"
        }
        let found: String?
        do {
            found = try CloudSettings(scheme: "s3") { [variables] in variables[$0] }.source?.name.text
        } catch {
            found = "\(error)"
        }
        #expect(found?.contains(expected) == true, "\(found ?? "nothing")")
    }

    @Test func namesOfObjects() throws {
        let object = try ObjectAddress("s3://my-bucket/a b/*.jsonl")
        #expect(object.bucket == "my-bucket" && object.key == "a b/*.jsonl" && object.isPattern)
        #expect(throws: HubError.self) { try ObjectAddress("s3://bucket") }
        let list = XML(Array("<R><Contents><Key>a%2Bb+c</Key><ETag>&quot;1&quot;</ETag></Contents></R>".utf8))
        let entry = try #require(list.all("Contents").first)
        #expect(entry.first("Key").map { ObjectStore.plain($0) } == "a+b c" && entry.first("ETag") == "\"1\"")
    }
}
