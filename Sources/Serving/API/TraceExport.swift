import Essentials
import JSON
import OperatingSystem
import PhiModel

/// Gives spans to whoever collects them, in OpenTelemetry's protocol (OTLP over HTTP, as JSON). What can't be given is let
/// go: no request waits for it.
package final class TraceExport: Sendable {
    private static let most = 2048
    private static let together = 256

    private let service: String
    private let version: String
    private let send: @Sendable ([UInt8]) -> Void
    private let spans = Mailbox<JSONValue>()
    private let state = Guarded((waiting: 0, isOver: false))

    /// - Parameters:
    ///   - service: the name that the server has among others (OTEL_SERVICE_NAME).
    ///   - send: sends a body, and says itself if that fails; called on a thread of its own.
    package init(service: String, version: String, send: @escaping @Sendable ([UInt8]) -> Void) {
        (self.service, self.version, self.send) = (service, version, send)
    }

    func start() throws {
        try WorkerThread.startOrExplain("traces") { [self] in
            while let some = spans.wait(Self.together) {
                send(Array(JSONWriter.text(of: body(some)).utf8))
                state.withLock { $0.waiting -= some.count }
            }
            state.withLock { $0.isOver = true }
        }
    }

    func add(_ span: JSONValue) {
        let hasRoom = state.withLock { state in
            guard state.waiting < Self.most else { return false }
            state.waiting += 1
            return true
        }
        if hasRoom { spans.put(span) }
    }

    /// Gives what is left; nothing may be added any more.
    func finish(within seconds: Double) {
        spans.close()
        let end = ContinuousClock.now + .seconds(seconds)
        while .now < end, !state.withLock(\.isOver) { WorkerThread.sleep(seconds: 0.01) }
    }

    private func body(_ spans: [JSONValue]) -> JSONValue {
        let resource = Self.attributes([
            ("service.name", .string(service)), ("service.version", .string(version)),
        ])
        let scope: JSONValue = ["name": "phibatch", "version": .string(version)]
        return [
            "resourceSpans": [
                [
                    "resource": ["attributes": resource],
                    "scopeSpans": [["scope": scope, "spans": .array(spans)]],
                ]
            ]
        ]
    }

    static func attributes(_ values: [(name: String, value: JSONValue)]) -> JSONValue {
        .array(values.map { ["key": .string($0.name), "value": typed($0.value)] })
    }

    private static func typed(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string: ["stringValue": value]
        case .bool: ["boolValue": value]
        case .int(let number): ["intValue": .string("\(number)")]
        case .number: ["doubleValue": value]
        case .array(let values): ["arrayValue": ["values": .array(values.map(typed))]]
        case .null, .object: ["stringValue": .string(JSONWriter.text(of: value))]
        }
    }
}
