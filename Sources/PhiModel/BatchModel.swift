import BatchEngine

/// What `admit` says to a new sequence.
public enum Admission: Sendable, Equatable {
    /// Room is reserved. The first `cached` prompt tokens are already in the cache (a shared prefix)
    /// and must not be sent again; it is less than the prompt's length, so that at least one row is left.
    case admitted(SequenceID, cached: Int)
    /// There is no room now; there may be when another sequence is released.
    case later
}

/// All that the batch pipeline sees of a model. `PhiEngine` is the real one; tests use a scripted one.
///
/// Text methods may be called from any thread. `admit`, `release` and `step` are called from one thread
/// at a time. A sequence's results depend only on its own tokens and sampling requests.
public protocol BatchModel: AnyObject, Sendable {
    var limits: ModelLimits { get }
    /// False if the folder has no tokenizer; then only `Prompt.tokens` can be served.
    var hasTokenizer: Bool { get }
    /// - Throws: `ModelError` of kind `badRequest` if the prompt can't be expressed.
    func tokens(for prompt: Prompt) throws -> [Int32]
    func makeTextStream() -> any TextStream
    /// The text of one token by itself (U+FFFD where it holds part of a character), and its bytes.
    func piece(of token: Int32) -> (text: String, bytes: [UInt8])

    /// Reserves KV-cache room for a prompt and `maxTokens` more.
    /// - Throws: `ModelError` of kind `resources` if it could not fit even into an empty cache.
    func admit(prompt: [Int32], maxTokens: Int) throws -> Admission
    /// What a reader of a result may want to know of how it came about, e.g. which rotary factors were
    /// used. Depends on the request alone. The default is nothing.
    func provenance(of sequence: SequenceID) -> [String: String]
    /// Where the time of all steps so far went. The default is all zeros.
    var times: ComputeTimes { get }
    func release(_ sequence: SequenceID)
    /// One forward pass over the rows of all `inputs` (each sequence at most once).
    /// - Returns: one element for each input, nil where no sampling was asked for.
    func step(_ inputs: [StepInput]) throws -> [TokenChoice?]
}

extension BatchModel {
    public var times: ComputeTimes { ComputeTimes() }
    public func provenance(of sequence: SequenceID) -> [String: String] { [:] }
}
