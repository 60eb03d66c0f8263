import Synchronization

/// The connections of one download: each is used by one thread at a time, and then by whichever needs one next.
final class HubConnections: Sendable {
    private struct Idle: @unchecked Sendable {
        var connections: [WebConnection] = []
    }

    private let make: @Sendable () throws(HubError) -> WebConnection
    private let idle = Mutex(Idle())

    init(make: @escaping @Sendable () throws(HubError) -> WebConnection) { self.make = make }

    func use<Value>(_ body: (WebConnection) throws -> Value) throws -> Value {
        let lent = try Idle(connections: [idle.withLock { $0.connections.popLast() } ?? make()])
        defer { idle.withLock { $0.connections += lent.connections } }
        return try body(lent.connections[0])
    }
}
