import Essentials
import Faults
import JSON
import OperatingSystem

/// Asks for keys that last for some hours.
struct CloudKeys {
    var source: KeySource
    let region: String
    let settings: HubSettings
    let stop: Stop
    let variable: (String) -> String?

    /// - Returns: nil where this machine is none that has a key of its own.
    /// - Throws: `HubError` or `CancellationError`.
    func access() throws -> Access? {
        switch source {
        case .key(let id, let secret, let token, _):
            return .signed(RequestSigner(id: id, secret: secret, token: token, region: region))
        case .role(let role, let wishes, let source):
            return try self.role([("RoleArn", role)] + wishes, by: source)
        case .identity(let role, let file, let session):
            return try sts(
                "AssumeRoleWithWebIdentity",
                [("RoleArn", role), ("RoleSessionName", session), ("WebIdentityToken", token(in: file))])
        case .signOn(let name, let account, let role, let region):
            return try signOn(name, account, role, region)
        case .process(let command):
            return try signed(in: Self.output(of: command, [], "credential_process"))
        case .container(let address): return try container(address)
        case .instance: return try instance()
        case .googleFile(let path): return try google(path)
        case .googleInstance: return try googleInstance()
        }
    }

    func fault(_ what: Message) -> HubError {
        HubError(.forbidden, "the store", "wants a key, and \(source.name) is none to be had: \(what)")
    }

    func post(_ address: String, _ form: [(String, String)], _ access: Access = .nobody) throws -> [UInt8] {
        try ask(
            "POST", address, ["Content-Type: application/x-www-form-urlencoded"],
            Array(Self.form(form).utf8), access)
    }

    /// What this machine's own service says; nil if there is none, or it has nothing.
    func near(_ address: String, _ fields: [String], _ method: String = "GET") throws -> [UInt8]? {
        do {
            return try ask(method, address, fields, isNear: true, tries: 1)
        } catch let error as HubError where error.kind == .network || error.kind == .missing {
            return nil
        }
    }

    /// No redirect is followed: what lets somebody in goes nowhere else.
    /// - Parameter isNear: it is of this machine, so that no proxy leads there, and it answers at once.
    func ask(
        _ method: String, _ address: String, _ fields: [String], _ body: [UInt8]? = nil,
        _ access: Access = .nobody, isNear: Bool = false, tries: Int = 3
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
        let body = body.map { RequestBody($0) }
        let all =
            try ["User-Agent: phibatch", "Accept-Encoding: identity", "Expect:"] + fields
            + access.fields(method, place, fields, body)
        return try client.tries(shown) {
            var bytes: [UInt8] = []
            let head = try client.connection().perform(
                place, method: method, fields: all, sends: body,
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
    static func output(
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
            let child = try ChildProgram(
                "/bin/sh", ["-c", command, "sh"] + arguments, input: ends[0],
                environment: ChildProgram.network + ["AWS_"])
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

    func token(in file: String) throws -> String {
        let text = Self.line(try contents(of: file))
        guard !text.isEmpty else { throw fault("\(file) is empty.") }
        return text
    }

    func contents(of file: String) throws -> [UInt8] {
        do { return try Files.contents(of: file, limit: 1 << 20) } catch {
            throw fault("\(file) can't be read.")
        }
    }

    func object(_ bytes: [UInt8]) throws -> JSONValue {
        guard let value = try? JSONValue(parsing: bytes, limits: .file) else {
            throw fault("what comes is no JSON.")
        }
        return value
    }

    static func line(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.split { $0 == 0x0A || $0 == 0x0D }.first ?? [], as: UTF8.self)
    }

    /// Whether it can stand in a request's head.
    static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }

    static func form(_ members: [(String, String)]) -> String {
        members.map { "\($0)=\(HubClient.escaped($1, slashes: true))" }.joined(separator: "&")
    }
}

extension JSONValue {
    func text(_ name: String) -> String? {
        guard case .string(let text)? = self[name], !text.isEmpty else { return nil }
        return text
    }
}
