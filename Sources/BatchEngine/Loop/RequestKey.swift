import OperatingSystem

/// Key of a request to a model: SHA-256 of everything that the outcome depends on. Requests with the same key have the
/// same outcome, in any line or job.
package struct RequestKey: Hashable, Sendable {
    /// Raised with every change of the key's content.
    private static let version = 1

    package let hash: [UInt8]

    /// Nil if it is unknown what the outcome depends on.
    /// - Parameter model: identifies the model, its arithmetic and everything else outside requests.
    package init?(_ request: Request, model: [UInt8]) {
        guard let asked = request.asked, let kind = request.kind.content else { return nil }
        var digest = Digest("phibatch answer \(Self.version)")
        digest.append(model)
        digest.append(RopeFactors.allCases.firstIndex(of: request.rope) ?? 0)
        digest.append(request.prompt)
        digest.append(asked)
        digest.append(kind.bytes)
        hash = digest.hash
    }

    /// 64 hexadecimal digits.
    package var text: String { FileHash.hexadecimal(hash) }
    /// Its first bytes, which are almost always unique.
    package var prefix: UInt64 { SHA.first(hash) }
}
