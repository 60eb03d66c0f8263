import Faults
import OperatingSystem

/// Where a key for a store is, or is asked for that lasts for some hours.
indirect enum KeySource: Sendable {
    /// A key that lasts, and what has it.
    case key(id: String, secret: String, token: String?, of: Message)
    /// AWS's STS gives a role's key, with some wishes, to who has another key.
    case role(String, [(String, String)], by: KeySource)
    /// It gives one for a token that lies in a file, as on Kubernetes.
    case identity(role: String, token: String, session: String)
    /// AWS's single sign-on, for which "aws sso login" has left a token under a name.
    case signOn(name: String, account: String, role: String, region: String)
    /// What a command prints, as a profile of AWS says.
    case process(String)
    /// The container's own address.
    case container(String)
    /// The machine's, on EC2.
    case instance
    /// A file of Google's, by which its server gives a token.
    case googleFile(String)
    case googleInstance

    /// For messages.
    var name: Message {
        switch self {
        case .key(_, _, _, let origin): "the key of \(origin)"
        case .role(let role, _, let source): "the role \(role), by \(source.name)"
        case .identity(let role, let token, _): "the role \(role), by the token in \(token)"
        case .signOn(let name, _, let role, _): "the role \(role), by the sign-on \(name)"
        case .process: "what credential_process prints"
        case .container: "the container's key"
        case .instance: "the key of this machine's role"
        case .googleFile(let path): "the account in \(path)"
        case .googleInstance: "this machine's account"
        }
    }

    /// What AWS's variables, a profile or this machine says, the first that says anything.
    /// - Throws: `HubError` if the profile is named and is not there, or gives no key for its role.
    static func amazon(
        _ profile: AmazonProfile, variable: (String) -> String?
    ) throws(HubError) -> KeySource? {
        // Else the key in variables would do without the role.
        if let key = ofVariables(variable), profile["credential_source"] != "Environment" { return key }
        let named = ofIdentity(
            variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN"),
            variable("AWS_ROLE_SESSION_NAME"))
        if let named { return named }
        if let one = try profile.source() { return one }
        guard variable("AWS_PROFILE") == nil || profile.isThere else {
            throw HubError(
                .forbidden, profile.name,
                "AWS_PROFILE names this profile, and neither ~/.aws/credentials nor ~/.aws/config has it.")
        }
        return ofContainer(variable) ?? ofInstance(variable)
    }

    static func ofVariables(_ variable: (String) -> String?) -> KeySource? {
        guard let id = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY") else {
            return nil
        }
        return .key(id: id, secret: secret, token: variable("AWS_SESSION_TOKEN"), of: "AWS_ACCESS_KEY_ID")
    }

    static func ofIdentity(_ token: String?, _ role: String?, _ session: String?) -> KeySource? {
        guard let token, let role else { return nil }
        return .identity(role: role, token: token, session: session ?? "phibatch")
    }

    static func ofContainer(_ variable: (String) -> String?) -> KeySource? {
        variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map { .container("http://169.254.170.2\($0)") }
            ?? variable("AWS_CONTAINER_CREDENTIALS_FULL_URI").map(KeySource.container)
    }

    static func ofInstance(_ variable: (String) -> String?) -> KeySource? {
        variable("AWS_EC2_METADATA_DISABLED")?.lowercased() == "true" ? nil : .instance
    }

    static func google(variable: (String) -> String?) -> KeySource? {
        if let named = variable("GOOGLE_APPLICATION_CREDENTIALS") { return .googleFile(named) }
        let folder = variable("CLOUDSDK_CONFIG") ?? HubSettings.expanded("~/.config/gcloud", variable)
        let usual = Paths.join(folder, "application_default_credentials.json")
        if Files.kind(of: usual) == .regular { return .googleFile(usual) }
        return variable("NO_GCE_CHECK")?.lowercased() == "true" ? nil : .googleInstance
    }
}
