/// Addresses of remote files: `hf://`, `s3://`, `gs://`, `az://`, `https://` and `http://`.
package enum Addresses {
    private static let schemes = ["hf", "s3", "gs", "az", "https", "http"]
    /// Names of parameters that grant access; so do names that begin with `x-amz-` and `x-goog-`.
    private static let secrets: Set<String> = [
        "sig", "signature", "token", "key", "code", "auth", "authorization", "secret", "password",
        "credential",
        "credentials", "policy", "expires", "apikey", "awsaccesskeyid", "googleaccessid",
    ]
    private static let secretEnds = [
        "token", "signature", "secret", "password", "api_key", "api-key", "key-id",
    ]

    /// Whether a text is an address, not a path.
    package static func isOne(_ text: String) -> Bool { scheme(of: text) != nil }

    /// Scheme in lower case; nil for a path.
    package static func scheme(of text: String) -> String? {
        guard let colon = text.utf8.firstRange(of: "://".utf8) else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        return schemes.contains(scheme) ? scheme : nil
    }

    /// Returns the address without secrets: user name and password, fragment, and values of parameters such as a
    /// signature. Messages, logs and manifests have this form.
    package static func shown(_ text: String) -> String {
        guard let scheme = scheme(of: text), let colon = text.utf8.firstRange(of: "://".utf8) else {
            return text
        }
        guard scheme.hasPrefix("http") else { return text }
        var rest = text[colon.upperBound...]
        rest = rest.prefix(until: "#")
        let host = rest.prefix(until: "/", "?")
        if let at = host.lastIndex(at: "@") { rest = rest[rest.utf8.index(after: at)...] }
        guard let mark = rest.firstIndex(at: "?") else { return "\(scheme)://\(rest)" }
        let parameters = rest[rest.utf8.index(after: mark)...].split(at: "&").map { parameter in
            let name = parameter.prefix(until: "=")
            return isSecret(name.lowercased()) ? "\(name)=..." : String(parameter)
        }
        return "\(scheme)://\(rest[..<mark])?\(parameters.joined(separator: "&"))"
    }

    private static func isSecret(_ name: String) -> Bool {
        secrets.contains(name) || name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-")
            || secretEnds.contains { name.hasSuffix($0) }
    }
}

/// A remote input after its download.
package struct DistantInput: Sendable, Equatable {
    package struct File: Sendable, Equatable {
        package var path: String
        /// Address of this file alone.
        package var source: String
        /// Version of its content; nil if the address determines it.
        package var version: String?

        package init(path: String, source: String, version: String? = nil) {
            (self.path, self.source, self.version) = (path, source, version)
        }
    }

    /// Address as in the job.
    package var address: String
    /// A commit, or a digest of the versions of all files. With the address it identifies the content.
    package var version: String
    package var files: [File]

    package init(address: String, version: String, files: [File]) {
        (self.address, self.version, self.files) = (address, version, files)
    }

    /// Downloads an input.
    /// - Parameters:
    ///   - address: as in the job.
    ///   - version: the version that an earlier run began with; nil if none has.
    package typealias Bring = (_ address: String, _ version: String?) throws -> DistantInput
}
