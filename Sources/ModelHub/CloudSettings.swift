import Essentials
import Faults
import OperatingSystem

/// Where S3 or Google's store is and who asks, as variables and files say that AWS's own programs know: `AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, or the profile `AWS_PROFILE` of `~/.aws/credentials` and `~/.aws/config`;
/// `AWS_REGION`, `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`. For `gs://`: `GS_ACCESS_KEY_ID` and `GS_SECRET_ACCESS_KEY` (an
/// HMAC key), or a token in `GOOGLE_OAUTH_ACCESS_TOKEN` or `CLOUDSDK_AUTH_ACCESS_TOKEN`. Or a `KeySource` is asked.
struct CloudSettings: Sendable {
    /// A URL without a slash at its end; nil for AWS's own.
    private(set) var endpoint: String?
    private(set) var region = "us-east-1"
    private(set) var access = Access.nobody
    /// What is to be asked for a key.
    private(set) var source: KeySource?
    /// What says who asks, for messages.
    private(set) var origin: Message = "no key (AWS_ACCESS_KEY_ID or ~/.aws/credentials)"

    /// - Parameter variable: the value of an environment variable; nil if it is not set.
    /// - Throws: `HubError` if a profile is named that is not there.
    init(scheme: String, variable: (String) -> String? = ProgramCall.path(inVariable:)) throws(HubError) {
        if scheme == "gs" {
            readGoogle(variable)
        } else {
            try readAmazon(variable)
        }
        while endpoint?.hasSuffix("/") == true { endpoint?.removeLast() }
    }

    private mutating func readGoogle(_ variable: (String) -> String?) {
        endpoint = variable("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE") ?? "https://storage.googleapis.com"
        region = "auto"
        origin = "no key (GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, or GOOGLE_OAUTH_ACCESS_TOKEN)"
        if let id = variable("GS_ACCESS_KEY_ID"), let secret = variable("GS_SECRET_ACCESS_KEY") {
            access = .signed(RequestSigner(id: id, secret: secret, token: nil, region: region))
            origin = "the key of GS_ACCESS_KEY_ID"
            return
        }
        for name in ["GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"] {
            guard let token = variable(name) else { continue }
            (access, origin) = (.bearer(token), "the token of \(name)")
            return
        }
        source = .google(variable: variable)
    }

    private mutating func readAmazon(_ variable: (String) -> String?) throws(HubError) {
        func file(_ name: String, _ usual: String) -> String {
            let path = variable(name) ?? "~/.aws/\(usual)"
            return HubSettings.expanded(path, variable)
        }
        let profile = variable("AWS_PROFILE") ?? "default"
        let section = profile == "default" ? profile : "profile \(profile)"
        let keys = Self.members(of: profile, in: file("AWS_SHARED_CREDENTIALS_FILE", "credentials"))
        let config = Self.members(of: section, in: file("AWS_CONFIG_FILE", "config"))
        region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? config?["region"] ?? region
        endpoint =
            variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL") ?? config?["endpoint_url"]
        func sign(_ id: String?, _ secret: String?, _ token: String?, _ from: Message) -> Bool {
            guard let id, let secret else { return false }
            access = .signed(RequestSigner(id: id, secret: secret, token: token, region: region))
            origin = from
            return true
        }
        if sign(
            variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN"),
            "the key of AWS_ACCESS_KEY_ID")
        {
            return
        }
        let known = [keys, config].compactMap(\.self)
        func member(_ name: String) -> String? { known.lazy.compactMap { $0[name] }.first }
        source = .first(variable: variable, member: member) {
            Self.members(of: "sso-session \($0)", in: file("AWS_CONFIG_FILE", "config"))
        }
        guard source == nil else { return }
        for members in known {
            let id = members["aws_access_key_id"]
            let secret = members["aws_secret_access_key"]
            if sign(id, secret, members["aws_session_token"], "the key of the profile \(profile)") { return }
        }
        guard variable("AWS_PROFILE") == nil || keys != nil || config != nil else {
            throw HubError(
                .forbidden, profile,
                "AWS_PROFILE names this profile, and neither ~/.aws/credentials nor ~/.aws/config has it.")
        }
        source = .last(variable: variable, member: member)
    }

    /// The same with the key that is to be asked for, if there is one.
    /// - Throws: `HubError` or `CancellationError`.
    func withKey(
        _ settings: HubSettings, _ stop: Stop, variable: @escaping (String) -> String? = ProgramCall.path
    ) throws -> Self {
        guard let source, !settings.isOffline else { return self }
        let keys = CloudKeys(
            source: source, region: region, settings: settings, stop: stop, variable: variable)
        guard let access = try keys.access() else { return self }
        var found = self
        (found.access, found.origin) = (access, source.name)
        return found
    }

    /// What a section of an INI file has; nil without that section.
    static func members(of section: String, in path: String) -> [String: String]? {
        guard let bytes = try? Files.contents(of: path, limit: 1 << 20) else { return nil }
        var members: [String: String]?
        var isWanted = false
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let text = trimmed(line)
            if text.hasPrefix("["), text.hasSuffix("]") {
                isWanted = trimmed(text.dropFirst().dropLast()) == section
                if isWanted { members = members ?? [:] }
            } else if isWanted, let sign = text.firstIndex(of: "="), !"#;".contains(text.prefix(1)) {
                members?[trimmed(text[..<sign]).lowercased()] = trimmed(text[text.index(after: sign)...])
            }
        }
        return members
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(String(text.drop(while: isBlank)).reversed().drop(while: isBlank).reversed())
    }

    /// Where a bucket or something in it is.
    /// - Parameter path: begins with a slash, escaped.
    func address(bucket: String, path: String) -> String {
        if let endpoint { return "\(endpoint)/\(bucket)\(path)" }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        // Certificates are of names with one part before this.
        return bucket.contains(".")
            ? "https://s3.\(region).\(domain)/\(bucket)\(path)"
            : "https://\(bucket).s3.\(region).\(domain)\(path)"
    }
}
