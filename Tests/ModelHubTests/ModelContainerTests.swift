import Foundation
import PhiModel
import Synchronization
import Testing

@testable import ModelHub

@Suite(.enabled(if: demoModel != nil, "the demo model is not there; make models/smollm2-demo fetches it"))
struct ModelContainerTests {
    /// By its repository's name, from a real server, in two calls: the second needs no network.
    @Test(HubBench.needsCurl) func aNameIsFetchedOnceAndAnswers() async throws {
        let source = try #require(demoModel)
        let files = try FileManager.default.contentsOfDirectory(atPath: source)
            .reduce(into: [String: [UInt8]]()) { $0[$1] = try TestFiles.bytes("\(source)/\($1)") }
        let temporary = try TemporaryFolder()
        let folder = temporary.path
        let hub = try TestHub(files: files)
        let settings = HubSettings(endpoint: hub.address, cacheFolder: folder)
        let last = Mutex(DownloadProgress(total: 0, done: -1))
        func load(_ report: @escaping @Sendable (DownloadEvent) -> Void) async throws -> ModelContainer {
            let folder = try await HubClient.onThread(settings, report: report) { client in
                try client.folder(of: ModelName(TestHub.id.name, path: TestHub.id.name))
            }
            return try await ModelContainer.load(folder: folder)
        }
        let model = try await load { event in
            if case .progress(let progress) = event { last.withLock { $0 = progress } }
        }
        hub.stop()
        let progress = last.withLock { $0 }
        #expect(progress.done == progress.total)
        #expect(progress.total > (files["model.safetensors"]?.count ?? 0))
        let answer = try await model.answer(to: .user("What is gravity?"), parameters: .init(maxTokens: 8))
        let again = try await load { _ in Issue.record("fetched again") }
        let second = try await again.answer(to: .user("What is gravity?"), parameters: .init(maxTokens: 8))
        #expect(answer.text == second.text)
        #expect(answer.tokens.count == 8)
    }

    @Test func aFolderIsAName() async throws {
        let model = try await ModelContainer.load(try #require(demoModel))
        let answer = try await model.answer(to: .user("Hi"), parameters: .init(maxTokens: 2))
        #expect(answer.tokens.count == 2)
    }

    @Test func aWrongNameIsAHubError() async throws {
        let error = await #expect(throws: UserError.self) { try await ModelContainer.load("phi-4-mimi") }
        #expect(error?.kind == .badName)
        #expect(error?.description.contains("phi-4-mini") == true)
    }
}

private let demoModel: String? = {
    let path = ProcessInfo.processInfo.environment["PHIBATCH_DEMO_MODEL"] ?? "models/smollm2-demo"
    return FileManager.default.fileExists(atPath: path + "/model.safetensors") ? path : nil
}()
