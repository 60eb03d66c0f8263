import Foundation
import JSON
import JSONSchema
import Testing

@testable import TokenConstraints

private enum SuiteFiles {
    static let folder = ProcessInfo.processInfo.environment["PHIBATCH_SHARED"].map {
        URL(fileURLWithPath: $0).appendingPathComponent("fixtures/jsonschema/suite/tests")
    }
}

/// JSON-Schema-Test-Suite: shapes take every valid instance; an invalid one only where they leave something to
/// validation.
@Suite(.enabled(if: SuiteFiles.folder != nil, "PHIBATCH_SHARED is not set"))
struct ShapeSuiteTests {
    @Test(arguments: [("draft2020-12", Draft.draft2020), ("draft7", Draft.draft7), ("draft4", Draft.draft4)])
    func agreesWithTheSuite(_ name: String, _ draft: Draft) throws {
        let folder = try #require(SuiteFiles.folder).appendingPathComponent(name)
        var count = 0
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        where file.hasSuffix(".json") {
            let bytes = try [UInt8](Data(contentsOf: folder.appendingPathComponent(file)))
            guard case .array(let groups) = try JSONValue(parsing: bytes, limits: .ownLine) else { continue }
            for group in groups {
                guard let document = group["schema"], let schema = try? Schema(document, draft: draft),
                    case .array(let tests)? = group["tests"]
                else { continue }
                let shape = try? SchemaShape(schema)
                for test in tests {
                    guard let data = test["data"] else { continue }
                    count += 1
                    let isTaken = shape?.fitting(data) != nil
                    if schema.accepts(data, assertsFormats: true) {
                        #expect(
                            isTaken,
                            "\(file): \(JSONWriter.text(of: document)) takes \(JSONWriter.text(of: data))")
                    } else if let shape, shape.validated.isEmpty {
                        #expect(
                            !isTaken,
                            "\(file): \(JSONWriter.text(of: document)) refuses \(JSONWriter.text(of: data))")
                    }
                }
            }
        }
        #expect(count > 500)
    }
}
