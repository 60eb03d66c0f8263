import Essentials
import Faults
import JSON
import OperatingSystem

/// Google's tokens.
extension CloudKeys {
    private static let storage = "https://www.googleapis.com/auth/devstorage.read_write"

    func google(_ path: String) throws -> Access {
        let account = try object(contents(of: path))
        let server = account.text("token_uri") ?? "https://oauth2.googleapis.com/token"
        switch account.text("type") {
        case "authorized_user":
            let form = try ["client_id", "client_secret", "refresh_token"].map {
                ($0, try member($0, of: account))
            }
            return try bearer(post(server, [("grant_type", "refresh_token")] + form))
        case "service_account":
            let now = FileState.now / 1_000_000_000
            let claims: JSONValue = [
                "iss": .string(try member("client_email", of: account)), "aud": .string(server),
                "scope": .string(Self.storage), "iat": .int(now), "exp": .int(now + 3600),
            ]
            let text = [#"{"alg":"RS256","typ":"JWT"}"#, JSONWriter.text(of: claims)]
                .map { Self.base64(Array($0.utf8)) }.joined(separator: ".")
            let command = #"exec 3<&0; printf %s "$1" | openssl dgst -sha256 -binary -sign /dev/fd/3"#
            let key = Array(try member("private_key", of: account).utf8)
            let signature = try Self.output(of: command, key, "openssl, which signs for it,", text)
            let form = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("assertion", "\(text).\(Self.base64(signature))"),
            ]
            return try bearer(post(server, form))
        case "external_account": return try external(account)
        case let type:
            throw fault(
                "files of the type \(type ?? "none") are not used; right are authorized_user, service_account and external_account. GOOGLE_OAUTH_ACCESS_TOKEN takes a token of any (gcloud auth print-access-token)."
            )
        }
    }

    /// Exchanges another identity provider's token (RFC 8693), and the new one for a service account's if the file names
    /// one.
    private func external(_ account: JSONValue) throws -> Access {
        for name in ["client_id", "workforce_pool_user_project"] where account[name] != nil {
            throw fault("files with \(name), which are of people's sign-on, are not used.")
        }
        let service = account.text("service_account_impersonation_url")
        let form = try [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("audience", member("audience", of: account)),
            ("scope", service == nil ? Self.storage : "https://www.googleapis.com/auth/cloud-platform"),
            ("subject_token_type", member("subject_token_type", of: account)),
            ("subject_token", subject(account["credential_source"] ?? .null)),
        ]
        let access = try bearer(
            post(account.text("token_url") ?? "https://sts.googleapis.com/v1/token", form))
        guard let service else { return access }
        let lifetime = account["service_account_impersonation"]?["token_lifetime_seconds"]?.integer ?? 3600
        let wanted: JSONValue = ["scope": [.string(Self.storage)], "lifetime": .string("\(lifetime)s")]
        return try bearer(
            ask(
                "POST", service, ["Content-Type: application/json"],
                Array(JSONWriter.text(of: wanted).utf8), access), "accessToken")
    }

    /// The other provider's token, from a file or an address.
    private func subject(_ source: JSONValue) throws -> String {
        let bytes: [UInt8]
        if let file = source.text("file") {
            bytes = try contents(of: file)
        } else if let address = source.text("url"), source["environment_id"] == nil {
            var fields: [String] = []
            if case .object(let members)? = source["headers"] {
                fields = try members.map { "\($0.name): \(try member($0.name, of: .object(members)))" }
            }
            bytes = try ask("GET", address, fields)
        } else {
            throw fault("its credential_source has neither a file nor a url that gives a token.")
        }
        let format = source["format"] ?? .null
        let token =
            format.text("type") == "json"
            ? try member(member("subject_token_field_name", of: format), of: object(bytes)) : Self.line(bytes)
        guard Self.isPlain(token) else { throw fault("what its credential_source gives is no token.") }
        return token
    }

    private func member(_ name: String, of value: JSONValue) throws -> String {
        guard let text = value.text(name) else { throw fault("there is no \(name) in it.") }
        return text
    }

    func googleInstance() throws -> Access? {
        let host = variable("GCE_METADATA_HOST") ?? variable("GCE_METADATA_IP") ?? "169.254.169.254"
        let path = "computeMetadata/v1/instance/service-accounts/default/token"
        return try near("http://\(host)/\(path)", ["Metadata-Flavor: Google"]).map { try bearer($0) }
    }

    private func bearer(_ json: [UInt8], _ name: String = "access_token") throws -> Access {
        guard let token = try object(json).text(name), Self.isPlain(token) else {
            throw fault("there is no token in the answer.")
        }
        return .bearer(token)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
