import CCurl

/// What stands before the body of a response.
struct ResponseHead {
    private(set) var status = 0
    /// As in "404 Not Found".
    private(set) var statusText = ""
    private var fields: [String: String] = [:]

    /// A line as it comes. One that begins another head, after an interim response, begins anew.
    mutating func add(_ line: String) {
        if line.hasPrefix("HTTP/") {
            let parts = line.split(at: " ", max: 1)
            self = ResponseHead()
            statusText = parts.count == 2 ? String(parts[1]) : ""
            status = Int(statusText.prefix(until: " ")) ?? 0
        } else if let colon = line.firstIndex(at: ":") {
            let name = line[..<colon].lowercased()
            let value = line[line.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            if fields[name] == nil { fields[name] = String(value) }
        }
    }

    /// The first field of this name.
    func first(_ name: String) -> String? { fields[name.lowercased()] }

    /// A field that is a number: digits and nothing else, and one that sums can be made of.
    func number(_ name: String) -> Int? { first(name).flatMap(Self.number) }

    static func number(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text)
    }
}

/// One request and its response, while libcurl works on it.
final class WebTransfer {
    /// No honest head is as long.
    private static let headLimit = 1 << 18

    private(set) var head = ResponseHead()
    /// What `body` threw.
    private(set) var error: (any Error)?
    /// Whether `body` has had enough.
    private(set) var hasEnough = false
    let stop: Stop
    private let sends: RequestBody?
    private var sent = 0
    private let body: (ResponseHead, UnsafeRawBufferPointer) throws -> Bool
    private var headBytes = 0

    init(
        stop: Stop, sends: RequestBody?, body: @escaping (ResponseHead, UnsafeRawBufferPointer) throws -> Bool
    ) {
        self.stop = stop
        self.sends = sends
        self.body = body
    }

    /// - Returns: false to end the transfer.
    func receiveHead(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.headLimit else { return false }
        var line = Substring(String(decoding: bytes, as: UTF8.self))
        while let last = line.unicodeScalars.last, last.properties.isWhitespace {
            line.unicodeScalars.removeLast()
        }
        head.add(String(line))
        return true
    }

    /// - Returns: how many bytes of what is sent are in `room` now.
    func send(into room: UnsafeMutableRawBufferPointer) -> Int {
        do {
            let count = try sends?.read(room, sent) ?? 0
            sent += count
            return count
        } catch {
            self.error = error
            return Int(PHI_CURL_READFUNC_ABORT)
        }
    }

    /// - Returns: false to end the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            hasEnough = try !body(head, bytes)
        } catch {
            self.error = error
        }
        return error == nil && !hasEnough
    }
}
