import BatchEngine
import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// A model folder and a cache folder beside it.
struct PrefixPlace {
    let top: URL
    var model: URL { top.appendingPathComponent("model") }
    var cache: URL { top.appendingPathComponent("cache") }
    var prefixes: URL { cache.appendingPathComponent("prefixes") }
    var files: [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: prefixes.path)) ?? []
        return names.filter { $0.hasPrefix("kv-") }.sorted().map { prefixes.appendingPathComponent($0) }
    }

    func engine(_ change: (inout EngineOptions) -> Void = { _ in }) throws -> PhiEngine {
        var options = EngineOptions(threads: 2, kvBudget: 4 << 20, cache: .folder(cache.path))
        change(&options)
        return try PhiEngine(folder: model.path, options: options)
    }

    /// What two prompts give on a new engine, which keeps what they share.
    @discardableResult
    func run(_ change: (inout EngineOptions) -> Void = { _ in }) throws -> (
        cached: [Int], bits: [[UInt32]], report: PrefixReport
    ) {
        let engine = try engine(change)
        let results = try [1, 2].map { try engine.answer(Self.prompt($0)) }
        return (results.map(\.cached), results.map(\.bits), engine.keepPrefixes { false })
    }

    /// Three full blocks that prompts share, and some tokens of their own.
    static func prompt(_ number: Int, count: Int = 210) -> [Int32] {
        (0..<count).map { Int32(($0 < 200 ? $0 * 29 : $0 * 37 + 11 * number) % 311 + 3) }
    }
}

func withPrefixPlace(
    _ geometry: SyntheticCheckpoint = .init(name: "base"), _ body: (PrefixPlace) throws -> Void
) throws {
    try withTemporaryFolder { folder in
        let place = PrefixPlace(top: folder)
        try geometry.write(to: place.model)
        try body(place)
    }
}

extension PhiEngine {
    /// Computes a prompt that may have more tokens after it: how many of its rows were there, and bits that depend on
    /// all of them.
    func answer(_ prompt: [Int32], cacheable: Int = .max, more: Int = 1) throws -> (
        cached: Int, bits: [UInt32]
    ) {
        let (id, cached) = try #require(try begin(prompt: prompt, maxTokens: more, cacheable: cacheable))
        defer { release(id) }
        let request = SamplingRequest(
            parameters: SamplingParameters(logprobs: 20), stream: 1, position: prompt.count)
        let answers = try step([StepInput(sequence: id, tokens: prompt[cached...], sampling: request)])
        let choice = try #require(answers[0].choice)
        return (cached, [UInt32(choice.token)] + choice.top.map(\.logprob.bitPattern))
    }
}
