import Foundation
import Testing

@testable import ModelHub

@Suite struct ModelNameTests {
    @Test func namesAndRepositories() throws {
        let known = try ModelName("phi-4-mini", path: "/none/phi-4-mini")
        #expect(known == .repository(try #require(RepositoryID("mlx-community/Phi-4-mini-instruct-4bit"))))
        #expect(known.known?.contextLength == 131_072)
        let revision = try ModelName("phi-4@abc", path: "/none/phi-4@abc")
        #expect(revision == .repository(try #require(RepositoryID("mlx-community/phi-4-4bit@abc"))))
        let other = try ModelName("my-org/my-phi", path: "/none/my-org/my-phi")
        #expect(other == .repository(try #require(RepositoryID("my-org/my-phi"))))
        #expect(other.known == nil)
    }

    @Test func folders() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.path
        // Even one with a model's name: it is there.
        #expect(try ModelName("phi-4", path: folder) == .folder(folder))
        #expect(try ModelName("models/none", path: folder + "/none") == .folder(folder + "/none"))
        #expect(try ModelName(DemoModel.name, path: "/none/x") == .folder(DemoModel.folder))
        for text in ["./m", "../m", "/m", "m/", "~/m", "a/b/c", "m.gguf", "a/m.gguf"] {
            #expect(try ModelName(text, path: "/none/\(text)") == .folder("/none/\(text)"))
        }
    }

    @Test func wrongNameSuggestsTheNearest() throws {
        let error = try #require(throws: UserError.self) { try ModelName("phi4-mni", path: "/none/x") }
        #expect(error.kind == .badName)
        #expect(error.description.contains("Did you mean phi-4-mini?"))
        let strange = try #require(throws: UserError.self) { try ModelName("a b", path: "/none/x") }
        #expect(!strange.description.contains("Did you mean"))
    }
}
