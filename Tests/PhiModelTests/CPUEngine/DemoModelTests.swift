import Foundation
import Testing

@testable import PhiModel

/// The embedded model itself, where `make demo` or `make test` has put it.
@Suite struct DemoModelTests {
    static let folder: String? = {
        let path =
            ProcessInfo.processInfo.environment["PHIBATCH_DEMO_MODEL"]
            ?? TestFolder.package.path + "/models/smollm2-demo"
        return FileManager.default.fileExists(atPath: path + "/model.safetensors") ? path : nil
    }()
    static let missing: Comment = "the demo model is not there; make models/smollm2-demo fetches it"

    @Test(.enabled(if: folder != nil, missing)) func streamsAnAnswer() async throws {
        let container = try await ModelContainer.load(folder: try #require(Self.folder))
        var text = ""
        var summary: ModelContainer.Summary?
        let messages = [ChatMessage(role: "user", content: "What is gravity?")]
        for try await part in container.generate(messages, parameters: .init(maxTokens: 40)) {
            switch part {
            case .text(let piece): text += piece
            case .end(let end): summary = end
            }
        }
        #expect(text.hasPrefix("Gravity is a fundamental concept in physics"))
        #expect(summary?.completionTokens == 40)
    }
}
