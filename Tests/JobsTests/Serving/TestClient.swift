import Foundation
import JSON

/// A client that says of HTTP what a test wants.
struct TestClient: Sendable {
    let port: Int

    struct Reply {
        var status = 0
        var text = ""
        var json: JSONValue? { try? JSONValue(parsing: Array(text.utf8), limits: .line) }
    }

    func post(_ path: String, _ body: String) throws -> Reply { try ask("POST \(path)", body: body) }

    func ask(_ head: String, _ header: String = "Accept: */*", body: String = "") throws -> Reply {
        try connection(head, header, body: body).reply()
    }

    func connection(_ head: String, _ header: String, body: String) throws -> Connection {
        let host = header.hasPrefix("Host:") ? "" : "Host: localhost\r\n"
        return try connection(
            raw:
                "\(head) HTTP/1.1\r\n\(host)\(header)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body)
    }

    func connection(raw: String) throws -> Connection { try Connection(port: port, raw) }

    final class Connection {
        private let file: UnsafeMutablePointer<FILE>

        init(port: Int, _ text: String) throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            // A test that waits for ever is worse than one that fails.
            var limit = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard result == 0, let file = fdopen(descriptor, "r") else { throw CocoaError(.fileReadUnknown) }
            self.file = file
            _ = Array(text.utf8).withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }

        deinit { fclose(file) }

        func close() { shutdown(fileno(file), Int32(SHUT_RDWR)) }

        /// Nil at the end.
        func readLine() -> String? {
            var line: UnsafeMutablePointer<CChar>?
            var size = 0
            defer { free(line) }
            guard getline(&line, &size, file) > 0, let line else { return nil }
            return String(cString: line).trimmingCharacters(in: .newlines)
        }

        func reply() -> Reply {
            var reply = Reply()
            reply.status = readLine()?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            var isChunked = false
            while let line = readLine(), !line.isEmpty {
                isChunked = isChunked || line.lowercased() == "transfer-encoding: chunked"
            }
            var rest = Data()
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
                rest += buffer[..<count]
            }
            while isChunked, let end = rest.firstRange(of: Data("\r\n".utf8)),
                let count = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16),
                count > 0
            {
                reply.text += String(decoding: rest[end.upperBound..<end.upperBound + count], as: UTF8.self)
                rest = rest[(end.upperBound + count + 2)...]
            }
            if !isChunked { reply.text = String(decoding: rest, as: UTF8.self) }
            return reply
        }
    }
}

extension JSONValue {
    /// An entry of a list; nil if there is none.
    subscript(index: Int) -> JSONValue? {
        guard case .array(let entries) = self, entries.indices.contains(index) else { return nil }
        return entries[index]
    }
}
