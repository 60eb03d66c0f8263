import Faults
import OperatingSystem

/// A profile in AWS's files `credentials` and `config`; of what both say the first counts.
struct AmazonProfile {
    let name: String
    private let variable: (String) -> String?
    private let config: String
    /// Its members in each file that has it.
    private let sections: [[String: String]]

    init(_ name: String, variable: @escaping (String) -> String?) {
        func path(_ name: String, _ usual: String) -> String {
            HubSettings.expanded(variable(name) ?? "~/.aws/\(usual)", variable)
        }
        (self.name, self.variable) = (name, variable)
        config = path("AWS_CONFIG_FILE", "config")
        let keys = path("AWS_SHARED_CREDENTIALS_FILE", "credentials")
        let section = name == "default" ? name : "profile \(name)"
        sections = [Self.members(of: name, in: keys), Self.members(of: section, in: config)].compactMap(
            \.self)
    }

    var isThere: Bool { !sections.isEmpty }

    subscript(member: String) -> String? { sections.lazy.compactMap { $0[member] }.first }

    /// What gives a key; nil if it says nothing of any.
    /// - Parameter asking: the profiles whose roles are asked for with this one's key.
    /// - Throws: `HubError` if what it says of a role gives none.
    func source(asking: [String] = []) throws(HubError) -> KeySource? {
        let (token, role) = (self["web_identity_token_file"], self["role_arn"])
        if let role, token == nil, asking.isEmpty || key == nil {
            return .role(role, wishes, by: try roleSource(asking))
        }
        return KeySource.ofIdentity(token, role, self["role_session_name"]) ?? signOn ?? key
            ?? self["credential_process"].map(KeySource.process)
    }

    /// What gives the key with which the role is asked for.
    private func roleSource(_ asking: [String]) throws(HubError) -> KeySource {
        func fault(_ what: Message) -> HubError { HubError(.forbidden, "the profile \(name)", what) }
        guard !asking.contains(name) else { throw fault("its source_profile leads back to it.") }
        guard self["mfa_serial"] == nil else {
            throw fault("its role is given for a code only (mfa_serial), for which nobody is asked.")
        }
        var source: KeySource?
        switch (self["source_profile"], self["credential_source"]) {
        case (let other?, nil):
            source = try Self(other, variable: variable).source(asking: asking + [name])
        case (nil, "Environment"): source = KeySource.ofVariables(variable)
        case (nil, "EcsContainer"): source = KeySource.ofContainer(variable)
        case (nil, "Ec2InstanceMetadata"): source = KeySource.ofInstance(variable)
        default: break
        }
        guard let source else {
            throw fault(
                "it has a role_arn and no key to ask for it with; right is either a source_profile that has a key, or a credential_source: Environment, Ec2InstanceMetadata or EcsContainer."
            )
        }
        return source
    }

    /// What is asked for along with the role.
    private var wishes: [(String, String)] {
        let names = [("ExternalId", "external_id"), ("DurationSeconds", "duration_seconds")]
        return [("RoleSessionName", self["role_session_name"] ?? "phibatch")]
            + names.compactMap { name, member in self[member].map { (name, $0) } }
    }

    private var signOn: KeySource? {
        guard let account = self["sso_account_id"], let role = self["sso_role_name"] else { return nil }
        let shared = self["sso_session"].flatMap { Self.members(of: "sso-session \($0)", in: config) }
        guard let name = self["sso_session"] ?? self["sso_start_url"],
            let region = shared?["sso_region"] ?? self["sso_region"]
        else { return nil }
        return .signOn(name: name, account: account, role: role, region: region)
    }

    /// The key that stands in it.
    private var key: KeySource? {
        for members in sections {
            guard let id = members["aws_access_key_id"], let secret = members["aws_secret_access_key"] else {
                continue
            }
            return .key(
                id: id, secret: secret, token: members["aws_session_token"], of: "the profile \(name)")
        }
        return nil
    }

    /// What a section of an INI file has; nil without that section.
    private static func members(of section: String, in path: String) -> [String: String]? {
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
}
