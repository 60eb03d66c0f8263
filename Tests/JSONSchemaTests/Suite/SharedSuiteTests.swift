import Foundation
import JSON
import JSONSchema
import Testing

enum SharedSchemas {
    static let folder = ProcessInfo.processInfo.environment["PHIBATCH_SHARED"].map {
        $0 + "/fixtures/jsonschema"
    }
}

/// The JSON-Schema-Test-Suite: all but what is in other documents, of a dialect of its own, a dynamic reference, or named
/// here.
@Suite(.enabled(if: SharedSchemas.folder != nil, "PHIBATCH_SHARED is not set"))
struct SharedSuiteTests {
    /// Files with tests that fail, and how many do.
    private static let failing: [String: [Draft: Int]] = [
        // Content is not looked into.
        "optional/content.json": [.draft7: 4],
        // Internationalized names (RFC 5891) are not known: neither in Unicode nor as xn--.
        "optional/format/hostname.json": [.draft2020: 23, .draft2019: 23, .draft7: 23, .draft4: 1],
        "optional/format/idn-hostname.json": [.draft2020: 54, .draft2019: 54, .draft7: 54],
    ]

    @Test(arguments: [
        ("draft2020-12", Draft.draft2020), ("draft2019-09", .draft2019), ("draft7", .draft7),
        ("draft4", .draft4),
    ])
    func suite(_ name: String, _ draft: Draft) throws {
        let folder = try #require(SharedSchemas.folder) + "/suite/tests/" + name
        let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        var count = 0
        for file in files where file.hasSuffix(".json") {
            let data = try Data(contentsOf: URL(filePath: folder + "/" + file))
            guard case .array(let groups) = try JSONValue(parsing: Array(data), limits: .ownLine) else {
                continue
            }
            var wrong: [String] = []
            for group in groups {
                guard case .array(let tests)? = group["tests"], let document = group["schema"],
                    let schema = load(document, draft)
                else { continue }
                for test in tests {
                    let value = try #require(test["data"])
                    let isValid = schema.accepts(value, assertsFormats: file.hasPrefix("optional/format/"))
                    count += 1
                    if test["valid"] != .bool(isValid), case .string(let text)? = test["description"] {
                        wrong.append(text)
                    }
                }
            }
            #expect(wrong.count == Self.failing[file]?[draft] ?? 0, "\(file): \(wrong)")
        }
        #expect(count > 900)
    }

    private func load(_ document: JSONValue, _ draft: Draft) -> Schema? {
        do throws(ConstraintFault) {
            return try Schema(document, draft: draft)
        } catch {
            #expect([.remote, .unknownDialect, .unusable].contains(error.kind), "\(error)")
            return nil
        }
    }
}

/// Real schemas with instances, half of MaskBench.
@Suite(.enabled(if: SharedSchemas.folder != nil, "PHIBATCH_SHARED is not set"))
struct MaskBenchTests {
    @Test func instancesAreJudgedAsLabelled() throws {
        let file = try #require(SharedSchemas.folder) + "/maskbench-half.jsonl.gz"
        let unpack = Process()
        unpack.executableURL = URL(filePath: "/usr/bin/env")
        unpack.arguments = ["gzip", "-dc", file]
        let pipe = Pipe()
        unpack.standardOutput = pipe
        try unpack.run()
        let text = try #require(try pipe.fileHandleForReading.readToEnd())
        var (refused, wrong, count) = ([ConstraintFault.Reason](), Set<String>(), 0)
        for line in [UInt8](text).split(separator: 0x0A) {
            let one = try JSONValue(parsing: Array(line), limits: .ownLine)
            guard case .string(let name)? = one["name"], let document = one["schema"],
                case .array(let tests)? = one["tests"]
            else { continue }
            do throws(ConstraintFault) {
                let schema = try Schema(document)
                for test in tests {
                    guard let value = test["data"] else { continue }
                    count += 1
                    if test["valid"] != .bool(schema.accepts(value, assertsFormats: true)) {
                        wrong.insert(name)
                    }
                }
            } catch {
                refused.append(error.kind)
            }
        }
        #expect(count > 18_000)
        // Three references lead nowhere, one to a metaschema, one pattern looks ahead in its middle, and one schema refers
        // to itself without end.
        #expect(refused.count == 6)
        #expect(wrong.isEmpty, "\(wrong)")
    }
}
