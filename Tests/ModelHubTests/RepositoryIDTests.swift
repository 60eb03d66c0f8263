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

    /// Parameters counted from the geometry, and 4.5 bits for each: about what the files take.
    @Test func knownModelsOfOtherTypes() throws {
        let moe = try #require(KnownModel.named("phi-3.5-moe"))
        #expect(moe.repository == "mlx-community/Phi-3.5-MoE-instruct-4bit")
        #expect(moe.contextLength == 131_072 && moe.bits == 4 && moe.expectedDownload < moe.expectedMemory)
        let (h, inner, vocabulary, layers) = (4096, 6400, 32064, 32)
        let attention = 2 * h * h + 2 * h * 1024
        let parameters = layers * (attention + 16 * 3 * h * inner + 16 * h) + 2 * vocabulary * h
        #expect(abs(moe.parameters - Double(parameters) / 1e9) < 0.01)
        #expect(moe.expectedMemory > 27_000_000_000 && moe.expectedMemory < 27_200_000_000)
        for (name, heads, keyHeads, inner) in [("phi-mini-moe", 32, 8, 960), ("phi-tiny-moe", 16, 4, 448)] {
            let slim = try #require(KnownModel.named(name))
            let attention = 2 * 128 * (heads + keyHeads) * h
            let parameters = layers * (attention + 16 * 3 * h * inner + 16 * h) + 2 * vocabulary * h
            #expect(abs(slim.parameters - Double(parameters) / 1e9) < 0.01)
            #expect(slim.repository.hasPrefix("microsoft/Phi-") && slim.bits == 16)
        }
        let eyes = try #require(KnownModel.named("phi-4-multimodal"))
        #expect(eyes.parameters > 5.5 && eyes.expectedMemory < 9_500_000_000)
        let phi2 = try #require(KnownModel.of(repository: "mlx-community/phi-2-hf-4bit-mlx"))
        #expect(phi2.name == "phi-2" && phi2.contextLength == 2048)
        #expect(KnownModel.named("phi-2-8bit") == nil)
        let flash = try #require(KnownModel.named("phi-4-mini-flash-reasoning"))
        #expect(flash.repository == "microsoft/Phi-4-mini-flash-reasoning" && flash.bits == 16)
        // What its index says, in bytes.
        #expect(abs(flash.parameters * 2e9 - 7_706_608_640) < 10_000_000)
    }
}
