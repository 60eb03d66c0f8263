import Foundation
import Testing

/// The embedded model, where `make demo` or `make test` has put it.
enum DemoModel {
    static let folder: String? = {
        let path =
            ProcessInfo.processInfo.environment["PHIBATCH_DEMO_MODEL"]
            ?? TestFolder.package.path + "/models/smollm2-demo"
        return FileManager.default.fileExists(atPath: path + "/model.safetensors") ? path : nil
    }()
    static let missing: Comment = "the demo model is not there; make models/smollm2-demo fetches it"
}
