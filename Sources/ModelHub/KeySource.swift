import Faults
import OperatingSystem

/// Where a key for a store is asked for that lasts for some hours.
enum KeySource: Sendable, Equatable {
    /// AWS's STS gives a role's key for a token that lies in a file, as on Kubernetes.
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
        case .identity(let role, let token, _): "the role \(role), by the token in \(token)"
        case .signOn(let name, _, let role, _): "the role \(role), by the sign-on \(name)"
        case .process: "what credential_process prints"
        case .container: "the container's key"
        case .instance: "the key of this machine's role"
        case .googleFile(let path): "the account in \(path)"
        case .googleInstance: "this machine's account"
        }
    }

    /// What is asked before the keys in AWS's files count.
    /// - Parameters:
    ///   - member: what the profile says.
    ///   - session: the members of a section `sso-session`.
    static func first(
        variable: (String) -> String?, member: (String) -> String?, session: (String) -> [String: String]?
    ) -> KeySource? {
        func identity(_ token: String?, _ role: String?, _ session: String?) -> KeySource? {
            guard let token, let role else { return nil }
            return .identity(role: role, token: token, session: session ?? "phibatch")
        }
        let named = identity(
            variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN"),
            variable("AWS_ROLE_SESSION_NAME"))
        let ofProfile = identity(
            member("web_identity_token_file"), member("role_arn"), member("role_session_name"))
        if let one = named ?? ofProfile { return one }
        guard let account = member("sso_account_id"), let role = member("sso_role_name") else { return nil }
        let shared = member("sso_session").flatMap(session)
        guard let name = member("sso_session") ?? member("sso_start_url"),
            let region = shared?["sso_region"] ?? member("sso_region")
        else { return nil }
        return .signOn(name: name, account: account, role: role, region: region)
    }

    /// What is asked where there are no keys.
    static func last(variable: (String) -> String?, member: (String) -> String?) -> KeySource? {
        if let command = member("credential_process") { return .process(command) }
        if let path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            return .container("http://169.254.170.2\(path)")
        }
        if let address = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") { return .container(address) }
        return variable("AWS_EC2_METADATA_DISABLED")?.lowercased() == "true" ? nil : .instance
    }

    static func google(variable: (String) -> String?) -> KeySource? {
        if let named = variable("GOOGLE_APPLICATION_CREDENTIALS") { return .googleFile(named) }
        let folder = variable("CLOUDSDK_CONFIG") ?? HubSettings.expanded("~/.config/gcloud", variable)
        let usual = Paths.join(folder, "application_default_credentials.json")
        if Files.kind(of: usual) == .regular { return .googleFile(usual) }
        return variable("NO_GCE_CHECK")?.lowercased() == "true" ? nil : .googleInstance
    }
}
