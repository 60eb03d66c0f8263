import Foundation
import Testing

/// The embedded model, where `make demo` or `make test` has put it.
enum DemoModel {
    static let folder: String? = {
        let path = ProcessInfo.processInfo.environment["PHIBATCH_DEMO_MODEL"] ?? "models/smollm2-demo"
        return FileManager.default.fileExists(atPath: path + "/model.safetensors") ? path : nil
    }()
    static let missing: Comment = "the demo model is not there; make models/smollm2-demo fetches it"
}

/// A folder for one test, removed at its end.
final class JobFolder {
    let path = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// The results without their `timing`, the only part that may differ.
    func results(_ name: String) throws -> [String] {
        let text = try String(contentsOfFile: file(name), encoding: .utf8)
        return text.split(separator: "\n").map { line in
            line.firstRange(of: ",\"timing\":").map { String(line[..<$0.lowerBound]) } ?? String(line)
        }
    }
}
