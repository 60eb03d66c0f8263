import JSON

/// Bounds of the parts around a tokenizer's model. Real ones are far below.
extension TokenizerConfigReader {
    /// JSON values in `normalizer`, `pre_tokenizer` or `decoder`: each step processes the whole text, and a pattern may
    /// take long to compile.
    static let stepValueLimit = 256
    /// JSON values in `post_processor`.
    static let templateValueLimit = 4096
    /// Special tokens around each text.
    static let specialLimit = 1024
    /// Factor by which a text may grow; steps multiply.
    static let growthLimit = 1024

    func checkSize(limit: Int) throws {
        guard value.count <= limit else {
            throw unsupported("it holds more than \(limit) values")
        }
    }

    func checkGrowth(_ factors: [Int]) throws {
        var growth = 1
        for factor in factors {
            // No overflow: a factor is at most the file's size.
            growth *= factor
            guard growth <= Self.growthLimit else {
                throw unsupported("its steps can make a text over \(Self.growthLimit) times longer")
            }
        }
    }
}

extension JSONValue {
    /// Number of values in this one, itself included.
    fileprivate var count: Int {
        switch self {
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        default: 1
        }
    }
}

extension Normalizer {
    /// The most bytes that one byte can become.
    var growth: Int {
        switch self {
        case .prepend(let prefix): 1 + prefix.count
        case .replace(let literal, let content):
            Swift.max(1, (content.count + literal.count - 1) / literal.count)
        case .composed: 3
        }
    }
}

extension DecoderStep {
    /// The most bytes that one byte can become.
    var growth: Int {
        switch self {
        case .replace(let literal, let content):
            Swift.max(1, (content.count + literal.count - 1) / literal.count)
        // A byte outside any character becomes U+FFFD.
        case .byteFallback, .byteLevel: 3
        case .fuse, .strip, .metaspace: 1
        }
    }
}
