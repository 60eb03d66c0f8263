import Essentials
import Faults
import JSON
import OperatingSystem

/// Amazon's keys.
extension CloudKeys {
    /// What the security token service gives to who has another key.
    func role(_ form: [(String, String)], by source: KeySource) throws -> Access {
        var keys = self
        keys.source = source
        guard case .signed(var signer)? = try keys.access() else {
            throw fault("\(source.name) is not to be had.")
        }
        signer.service = "sts"
        return try sts("AssumeRole", form, .signed(signer))
    }

    func sts(_ action: String, _ form: [(String, String)], _ access: Access = .nobody) throws -> Access {
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let endpoint = variable("AWS_ENDPOINT_URL_STS") ?? variable("AWS_ENDPOINT_URL")
        let answer = XML(
            try post(
                endpoint ?? "https://sts.\(region).\(domain)/",
                [("Action", action), ("Version", "2011-06-15")] + form, access))
        return try signed { answer.first($0) }
    }

    func signOn(_ name: String, _ account: String, _ role: String, _ region: String) throws
        -> Access
    {
        var hash = SHA.sha1()
        Array(name.utf8).withUnsafeBytes { hash.update($0) }
        let file = HubSettings.expanded(
            "~/.aws/sso/cache/\(FileHash.hexadecimal(hash.finalize())).json", variable)
        let cached = try? JSONValue(parsing: Files.contents(of: file, limit: 1 << 20), limits: .file)
        guard let token = cached?.text("accessToken"), let end = cached?.text("expiresAt"),
            end > UTCTime(seconds: FileState.now / 1_000_000_000).text
        else { throw fault("there is no token that still counts. \"aws sso login\" gets one.") }
        let endpoint = variable("AWS_ENDPOINT_URL_SSO") ?? "https://portal.sso.\(region).amazonaws.com"
        let query = [("role_name", role), ("account_id", account)]
        let answer = try ask(
            "GET", "\(endpoint)/federation/credentials?\(Self.form(query))",
            ["x-amz-sso_bearer_token: \(token)"])
        let keys = try object(answer)["roleCredentials"]
        return try signed { name in
            // Its names begin with small letters.
            keys?.text(name.prefix(1).lowercased() + name.dropFirst())
        }
    }

    func container(_ address: String) throws -> Access {
        let host = try WebAddress(address, Curl.load()).map(\.host) ?? ""
        let isNumber = host.utf8.allSatisfy { ".0123456789".utf8.contains($0) }
        let isNear =
            isNumber && host.hasPrefix("127.")
            || ["localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"].contains(host)
        guard isNear || address.hasPrefix("https://") else {
            throw fault("AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or of this machine.")
        }
        let token =
            try variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").map { try self.token(in: $0) }
            ?? variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        return try signed(
            in: ask("GET", address, token.map { ["Authorization: \($0)"] } ?? [], isNear: isNear))
    }

    func instance() throws -> Access? {
        let isSix = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")?.lowercased() == "ipv6"
        var place =
            variable("AWS_EC2_METADATA_SERVICE_ENDPOINT")
            ?? "http://\(isSix ? "[fd00:ec2::254]" : "169.254.169.254")"
        while place.hasSuffix("/") { place.removeLast() }
        let ask = ["X-aws-ec2-metadata-token-ttl-seconds: 21600"]
        guard let token = try near("\(place)/latest/api/token", ask, "PUT").map(Self.line) else {
            return nil
        }
        let roles = "\(place)/latest/meta-data/iam/security-credentials/"
        let fields = ["X-aws-ec2-metadata-token: \(token)"]
        // A machine may have no role.
        guard let role = try near(roles, fields).map(Self.line), !role.isEmpty else { return nil }
        return try near(roles + HubClient.escaped(role, slashes: true), fields).map(signed(in:))
    }

    func signed(in json: [UInt8]) throws -> Access {
        let keys = try object(json)
        return try signed { name in
            keys.text(name == "SessionToken" ? "Token" : name) ?? keys.text(name)
        }
    }

    func signed(_ member: (String) -> String?) throws -> Access {
        guard let id = member("AccessKeyId"), let secret = member("SecretAccessKey"),
            case let token = member("SessionToken"), Self.isPlain(id), token.map(Self.isPlain) ?? true
        else { throw fault("there is no key in the answer.") }
        return .signed(RequestSigner(id: id, secret: secret, token: token, region: region))
    }
}
