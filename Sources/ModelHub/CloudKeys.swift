import Essentials
import Faults
import JSON
import OperatingSystem

/// Asks for keys that last for some hours.
struct CloudKeys {
    let source: KeySource
    let region: String
    let settings: HubSettings
    let stop: Stop
    let variable: (String) -> String?

    /// - Returns: nil where this machine is none that has a key of its own.
    /// - Throws: `HubError` or `CancellationError`.
    func access() throws -> Access? {
        switch source {
        case .identity(let role, let file, let session):
            let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
            let endpoint = variable("AWS_ENDPOINT_URL_STS") ?? variable("AWS_ENDPOINT_URL")
            let form = [
                ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
                ("RoleSessionName", session), ("WebIdentityToken", try token(in: file)),
            ]
            let answer = XML(try post(endpoint ?? "https://sts.\(region).\(domain)/", form))
            return try signed { answer.first($0) }
        case .signOn(let name, let account, let role, let region):
            return try signOn(name, account, role, region)
        case .process(let command):
            return try signed(in: Self.output(of: command, [], "credential_process"))
        case .container(let address): return try container(address)
        case .instance: return try instance()
        case .googleFile(let path): return try google(path)
        case .googleInstance:
            let host =
                variable("GCE_METADATA_HOST") ?? variable("GCE_METADATA_IP") ?? "169.254.169.254"
            let path = "computeMetadata/v1/instance/service-accounts/default/token"
            return try near("http://\(host)/\(path)", ["Metadata-Flavor: Google"]).map(bearer)
        }
    }

    private func fault(_ what: Message) -> HubError {
        HubError(.forbidden, "the store", "wants a key, and \(source.name) is none to be had: \(what)")
    }

    // MARK: Amazon

    private func signOn(_ name: String, _ account: String, _ role: String, _ region: String) throws
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

    private func container(_ address: String) throws -> Access {
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

    private func instance() throws -> Access? {
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

    private func signed(in json: [UInt8]) throws -> Access {
        let keys = try object(json)
        return try signed { name in
            keys.text(name == "SessionToken" ? "Token" : name) ?? keys.text(name)
        }
    }

    private func signed(_ member: (String) -> String?) throws -> Access {
        guard let id = member("AccessKeyId"), let secret = member("SecretAccessKey"),
            case let token = member("SessionToken"), Self.isPlain(id), token.map(Self.isPlain) ?? true
        else { throw fault("there is no key in the answer.") }
        return .signed(RequestSigner(id: id, secret: secret, token: token, region: region))
    }

    // MARK: Google

    private func google(_ path: String) throws -> Access {
        guard let bytes = try? Files.contents(of: path, limit: 1 << 20) else {
            throw fault("the file can't be read (GOOGLE_APPLICATION_CREDENTIALS).")
        }
        let account = try object(bytes)
        let server = account.text("token_uri") ?? "https://oauth2.googleapis.com/token"
        func member(_ name: String) throws -> String {
            guard let text = account.text(name) else { throw fault("the file has no \(name).") }
            return text
        }
        switch account.text("type") {
        case "authorized_user":
            let form = try ["client_id", "client_secret", "refresh_token"].map { ($0, try member($0)) }
            return try bearer(post(server, [("grant_type", "refresh_token")] + form))
        case "service_account":
            let now = FileState.now / 1_000_000_000
            let claims: JSONValue = [
                "iss": .string(try member("client_email")), "aud": .string(server),
                "scope": "https://www.googleapis.com/auth/devstorage.read_write", "iat": .int(now),
                "exp": .int(now + 3600),
            ]
            let text = [#"{"alg":"RS256","typ":"JWT"}"#, JSONWriter.text(of: claims)]
                .map { Self.base64(Array($0.utf8)) }.joined(separator: ".")
            let command = #"exec 3<&0; printf %s "$1" | openssl dgst -sha256 -binary -sign /dev/fd/3"#
            let key = Array(try member("private_key").utf8)
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

    // MARK: Asking

    private func post(_ address: String, _ form: [(String, String)]) throws -> [UInt8] {
        try ask(
            "POST", address, ["Content-Type: application/x-www-form-urlencoded"],
            Array(Self.form(form).utf8))
    }

    /// What this machine's own service says; nil if there is none, or it has nothing.
    private func near(_ address: String, _ fields: [String], _ method: String = "GET") throws
        -> [UInt8]?
    {
        do { return try ask(method, address, fields, isNear: true, tries: 1) } catch let error
            as HubError
            where error.kind == .network || error.kind == .missing
        {
            return nil
        }
    }

    /// No redirect is followed: what lets somebody in goes nowhere else.
    /// - Parameter isNear: it is of this machine, so that no proxy leads there, and it answers at once.
    private func ask(
        _ method: String, _ address: String, _ fields: [String], _ body: [UInt8]? = nil,
        isNear: Bool = false,
        tries: Int = 3
    ) throws -> [UInt8] {
        var (settings, patience) = (settings, Patience())
        patience.tries = tries
        if isNear { (settings.network, patience.connecting) = (NetworkSettings(), 1) }
        let client = try HubClient(settings: settings, patience: patience, stop: stop, access: .nobody) {
            _, _ in
        }
        let shown = Addresses.shown(String(address.prefix { $0 != "?" }))
        guard let place = WebAddress(address, client.curl) else {
            throw fault("\(shown) is no address of http or https.")
        }
        let all = ["User-Agent: phibatch", "Accept-Encoding: identity", "Expect:"] + fields
        return try client.tries(shown) {
            var bytes: [UInt8] = []
            let head = try client.connection().perform(
                place, method: method, fields: all, sends: body.map { RequestBody($0) },
                seconds: isNear ? 2 : 30, stop: stop
            ) { _, new in
                bytes += new
                return bytes.count <= 1 << 20
            }
            guard head.status != 200 else { return bytes }
            try client.retryIfPassing(HubResponse(head: head, host: place.host, isHub: false))
            let kind: HubError.Kind = head.status == 404 ? .missing : .forbidden
            let json = try? JSONValue(parsing: bytes, limits: .file)
            let code =
                (XML(bytes).first("Code") ?? json?.text("error")).map { " (\($0.prefix(64)))" } ?? ""
            throw HubError(kind, shown, "answers \(head.statusText)\(code), asked for \(source.name).")
        }
    }

    /// What a command of the shell prints.
    /// - Parameter input: as much as a pipe holds.
    private static func output(
        of command: String, _ input: [UInt8], _ name: Message, _ arguments: String...
    ) throws -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw HubError(.files, "/bin/sh", "can't be started.") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { _ = close(ends[0]) }
        let written = write(ends[1], input, input.count)
        _ = close(ends[1])
        do throws(FileFault) {
            guard written == input.count else {
                throw FileFault(path: "/bin/sh", reason: "takes no input")
            }
            let child = try ChildProgram("/bin/sh", ["-c", command, "sh"] + arguments, input: ends[0])
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 14, alignment: 1)
            defer { buffer.deallocate() }
            var all: [UInt8] = []
            while case let count = try child.read(into: buffer, within: 60), count > 0 {
                all += buffer[..<count]
            }
            // Nothing of what it says is told: it may be secret.
            guard child.wait() == .exit(0) else {
                throw FileFault(path: command, reason: "ended without success")
            }
            return all
        } catch {
            throw HubError(.forbidden, "\(name)", "can't be used: \(error.reason).")
        }
    }

    private func token(in file: String) throws -> String {
        guard let bytes = try? Files.contents(of: file, limit: 1 << 20),
            case let text = Self.line(bytes),
            !text.isEmpty
        else { throw fault("\(file) can't be read, or is empty.") }
        return text
    }

    private func object(_ bytes: [UInt8]) throws -> JSONValue {
        guard let value = try? JSONValue(parsing: bytes, limits: .file) else {
            throw fault("what comes is no JSON.")
        }
        return value
    }

    private static func line(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.split { $0 == 0x0A || $0 == 0x0D }.first ?? [], as: UTF8.self)
    }

    /// Whether it can stand in a request's head.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }

    private static func form(_ members: [(String, String)]) -> String {
        members.map { "\($0)=\(HubClient.escaped($1, slashes: true))" }.joined(separator: "&")
    }
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String? {
        guard case .string(let text)? = self[name], !text.isEmpty else { return nil }
        return text
    }
}
