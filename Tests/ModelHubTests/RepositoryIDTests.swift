import Testing

@testable import ModelHub

@Suite struct RepositoryIDTests {
    @Test func parts() throws {
        let plain = try #require(RepositoryID("mlx-community/Phi-3.5-mini-instruct-4bit"))
        #expect(plain.revision == "main")
        #expect(plain.folderName == "models--mlx-community--Phi-3.5-mini-instruct-4bit")
        #expect(RepositoryID(folderName: plain.folderName) == plain)
        let branch = try #require(RepositoryID("a/b@refs/pr/1"))
        #expect(branch.name == "a/b" && branch.revision == "refs/pr/1" && "\(branch)" == "a/b@refs/pr/1")
    }

    @Test(arguments: [
        "phi-4-mini", "a/b/c", "/b", "a/", "a/b@", "a/b@../x", "a/..", "a/b@x//y", "./b", "a/b c", "a--b/c",
        "a/b.git", "a/é", "-a/b", "a/b@x y", String(repeating: "x", count: 96) + "/b",
    ]) func isNone(text: String) {
        #expect(RepositoryID(text) == nil)
    }

    @Test func knownModels() {
        #expect(KnownModel.named("phi-4-mini")?.repository == "mlx-community/Phi-4-mini-instruct-4bit")
        #expect(KnownModel.named("PHI-4-mini-8bit")?.bits == 8)
        #expect(Set(KnownModel.all.map(\.name)).count == KnownModel.all.count)
        for model in KnownModel.all { #expect(RepositoryID(model.repository) != nil) }
    }
}
