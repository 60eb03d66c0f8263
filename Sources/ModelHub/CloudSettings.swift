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
    /// - Throws: `HubError` if a profile is named that is not there, or gives no key for its role.
    init(
        scheme: String, variable: @escaping (String) -> String? = ProgramCall.path(inVariable:)
    ) throws(HubError) {
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

    private mutating func readAmazon(_ variable: @escaping (String) -> String?) throws(HubError) {
        let profile = AmazonProfile(variable("AWS_PROFILE") ?? "default", variable: variable)
        region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? profile["region"] ?? region
        endpoint =
            variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL") ?? profile["endpoint_url"]
        source = try .amazon(profile, variable: variable)
        guard case .key(let id, let secret, let token, let holder)? = source else { return }
        access = .signed(RequestSigner(id: id, secret: secret, token: token, region: region))
        (origin, source) = ("the key of \(holder)", nil)
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
