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
        case let type:
            throw fault(
                "files of the type \(type ?? "none") are not used; right are authorized_user and service_account. GOOGLE_OAUTH_ACCESS_TOKEN takes a token of any (gcloud auth print-access-token)."
            )
        }
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

    private func bearer(_ json: [UInt8]) throws -> Access {
        guard let token = try object(json).text("access_token"), Self.isPlain(token) else {
            throw fault("there is no token in the answer.")
        }
        return .bearer(token)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
