import BatchPipeline
import PhiModel

/// One reader of foreign bytes, called as the program calls it. Where several files belong together, the
/// input holds them one after the other, with a zero byte between.
struct FuzzTarget: Sendable {
    /// Also the name of its folder in `corpus`.
    let name: String
    private let body: @Sendable (_ input: [UInt8], _ scratch: ScratchFolder) throws -> Void

    static let all = [
        FuzzTarget(name: "line", body: readLines),
        FuzzTarget(name: "job", body: readJob),
        FuzzTarget(name: "log", body: readLog),
        FuzzTarget(name: "record", body: readOutputLog),
        FuzzTarget(name: "safetensors", body: readSafetensors),
        FuzzTarget(name: "config", body: readConfiguration),
        FuzzTarget(name: "model", body: readModel),
        FuzzTarget(name: "gguf", body: readGGUF),
        FuzzTarget(name: "tokenizer", body: readTokenizer),
        FuzzTarget(name: "template", body: readTemplate),
        FuzzTarget(name: "schema", body: readSchema),
        FuzzTarget(name: "expression", body: readExpression),
    ]

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    /// Takes an input, or refuses it with one of the program's own errors.
    /// - Throws: anything else that was thrown, or `BrokenPromise`.
    func run(_ input: [UInt8], _ scratch: ScratchFolder) throws {
        do {
            try body(input, scratch)
        } catch let error as UserError {
            let message = "\(error)"
            try promise(message.utf8.count < 10_000, "a message of \(message.utf8.count) bytes")
            try promise(!message.contains("\u{1B}"), "a message that steers the terminal")
        }
    }
}

/// What must hold for every input did not hold for this one.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}

func promise(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw BrokenPromise(description: what()) }
}

/// The input's files; empty ones where it has fewer.
func parts(_ input: [UInt8], _ count: Int) -> [[UInt8]] {
    let parts = input.split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false)
    return parts.map { Array($0) } + [[UInt8]](repeating: [], count: count - parts.count)
}
