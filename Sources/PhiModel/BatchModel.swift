/// One message of a conversation, as chat templates see it.
public struct ChatMessage: Sendable, Equatable, Codable {
    public var role: String
    public var content: String
    /// What else the message has for templates that use it, such as Phi-4-mini's `tools`.
    public var members: [TemplateMember] = []

    private enum CodingKeys: CodingKey {
        case role, content
    }

    public init(role: String, content: String, members: [TemplateMember] = []) {
        self.role = role
        self.content = content
        self.members = members
    }
}

/// What a request's text is made of, before it becomes token ids.
public enum Prompt: Sendable, Equatable {
    /// Messages that go through the model's chat template, with a generation prompt behind them.
    case messages([ChatMessage])
    /// Text given to the tokenizer as it is, without a template.
    case text(String)
    /// Token ids, used as they are; needs no tokenizer.
    case tokens([Int32])
}

/// The fixed facts of a loaded model that a scheduler needs.
public struct ModelLimits: Sendable, Equatable {
    /// The longest sequence, prompt and completion together, in tokens.
    public var contextLength: Int
    public var vocabularySize: Int
    /// Any of these ends a completion; they are not part of its text.
    public var endOfSequence: Set<Int32>

    public init(contextLength: Int, vocabularySize: Int, endOfSequence: Set<Int32>) {
        self.contextLength = contextLength
        self.vocabularySize = vocabularySize
        self.endOfSequence = endOfSequence
    }
}

/// How one token is chosen from a row of logits.
public struct SamplingParameters: Sendable, Equatable {
    /// 0 is greedy (then the other members are without effect).
    public var temperature: Float
    /// Keep the smallest set of tokens whose probability reaches this; 1 keeps all.
    public var topP: Float
    /// Keep the K most likely tokens; 0 keeps all.
    public var topK: Int
    /// Keep tokens whose probability is at least this share of the most likely one's; 0 keeps all.
    public var minP: Float
    /// How many of the most likely tokens to report with log-probabilities; nil reports none at all,
    /// 0 only the chosen token's.
    public var logprobs: Int?

    public init(
        temperature: Float = 0, topP: Float = 1, topK: Int = 0, minP: Float = 0, logprobs: Int? = nil
    ) {
        self.temperature = temperature
        self.topP = topP
        self.topK = topK
        self.minP = minP
        self.logprobs = logprobs
    }
}

/// A request for one token behind the last row of a step.
public struct SamplingRequest: Sendable, Equatable {
    public var parameters: SamplingParameters
    /// The request's own random stream (a hash of the job's seed and the line's id and sample number).
    public var stream: UInt64
    /// Which number of that stream is used: how many tokens this completion already has.
    public var position: Int

    public init(parameters: SamplingParameters, stream: UInt64, position: Int) {
        self.parameters = parameters
        self.stream = stream
        self.position = position
    }
}

/// A token with its natural-log probability under the model (at temperature 1, before any filter).
public struct TokenLogprob: Sendable, Equatable {
    public var id: Int32
    public var logprob: Float

    public init(id: Int32, logprob: Float) {
        self.id = id
        self.logprob = logprob
    }
}

/// The token chosen for one sequence in one step, or why there is none.
public struct TokenChoice: Sendable, Equatable {
    /// If set, no token could be chosen; then the other members mean nothing, and the sequence can't go on.
    public var fault: ChoiceFault?
    public var token: Int32
    /// The chosen token's log-probability, if logprobs were asked for.
    public var logprob: Float?
    /// The most likely tokens, most likely first (ties: lower id first).
    public var top: [TokenLogprob]

    public init(token: Int32, logprob: Float? = nil, top: [TokenLogprob] = []) {
        self.token = token
        self.logprob = logprob
        self.top = top
    }

    public init(fault: ChoiceFault) {
        self.init(token: -1)
        self.fault = fault
    }
}

/// A sequence that holds KV-cache room in a model.
public struct SequenceID: Hashable, Sendable {
    public let value: Int
    public init(_ value: Int) { self.value = value }
}

/// What `admit` says to a new sequence.
public enum Admission: Sendable, Equatable {
    /// Room is reserved. The first `cached` prompt tokens are already in the cache (a shared prefix)
    /// and must not be sent again; it is less than the prompt's length, so that at least one row is left.
    case admitted(SequenceID, cached: Int)
    /// There is no room now; there may be when another sequence is released.
    case later
}

/// The rows that one sequence brings into a step.
public struct StepInput: Sendable {
    public var sequence: SequenceID
    /// Tokens appended to the sequence: a chunk of its prompt, or the one token chosen last.
    public var tokens: ArraySlice<Int32>
    /// If set, a token is chosen from the logits behind the last of `tokens`.
    public var sampling: SamplingRequest?

    public init(sequence: SequenceID, tokens: ArraySlice<Int32>, sampling: SamplingRequest?) {
        self.sequence = sequence
        self.tokens = tokens
        self.sampling = sampling
    }
}

/// Turns the ids of one completion into text, token by token, never emitting half a character.
public protocol TextStream: Sendable {
    /// The text that becomes certain with this token; may be empty.
    mutating func append(_ token: Int32) -> String
    /// What is left at the end (an incomplete character becomes U+FFFD).
    mutating func finish() -> String
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
    /// - Returns: one element for each input, nil where no sampling was asked for. A fault of one sequence is no
    ///   other one's.
    func step(_ inputs: [StepInput]) throws -> [TokenChoice?]
}

extension BatchModel {
    public var times: ComputeTimes { ComputeTimes() }
    public func provenance(of sequence: SequenceID) -> [String: String] { [:] }
}
