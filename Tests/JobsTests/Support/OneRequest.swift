import BatchEngine

/// Asks for one request, and keeps what comes of it.
final class OneRequest: RequestSource {
    let workers = 1
    let isCancelled = false
    private var request: Request?
    private var outcome: TokenSequence?

    init(_ request: Request) { self.request = request }

    /// What came of it, once: a sequence knows its source, and would keep it.
    func take() -> TokenSequence? {
        defer { outcome = nil }
        return outcome
    }

    func next(patience: Double) -> SourceAnswer {
        defer { request = nil }
        return request.map { .request($0) } ?? .end
    }
    func finished(_ sequence: TokenSequence, provenance: [String: String]) { outcome = sequence }
    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) {}
    func refused(_ request: Request, _ refusal: UserError, room: Int?) {}
    func completed() {}
    func abandoned(_ live: [TokenSequence], error: (any Error)?) {}
}
