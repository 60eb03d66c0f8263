import Essentials
import JSON
import Jobs

/// What is told of a request where traces are collected, by OpenTelemetry's names for requests to models (gen_ai).
struct AnswerSpan: Sendable {
    private let export: TraceExport
    /// The caller's trace and span, if it has said so (traceparent).
    private let caller: [String]
    private let name: String
    private let began = Date().timeIntervalSince1970
    private var attributes: [(name: String, value: JSONValue)]
    /// What bodies call the settings that the names are of.
    private static let settings = [
        ("max_tokens", ["max_completion_tokens", "max_output_tokens", "max_tokens"]),
        ("temperature", ["temperature"]), ("top_p", ["top_p"]), ("top_k", ["top_k"]), ("seed", ["seed"]),
        ("choice.count", ["n"]), ("frequency_penalty", ["frequency_penalty"]),
        ("presence_penalty", ["presence_penalty"]),
    ]

    init(
        _ export: TraceExport, _ head: HTTPHead, _ endpoint: OpenAIRequest.Endpoint, model: String,
        _ body: JSONObject
    ) {
        self.export = export
        let parts = (head.headers["traceparent"] ?? "").split(separator: "-").map(String.init)
        let isRight =
            parts.count >= 4 && parts[1].utf8.count == 32 && parts[2].utf8.count == 16
            && (parts[1] + parts[2]).utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
        caller = isRight ? [parts[1], parts[2]] : []
        let operation = endpoint == .completions ? "text_completion" : "chat"
        name = "\(operation) \(model)"
        attributes = [
            ("gen_ai.operation.name", .string(operation)), ("gen_ai.provider.name", "phibatch"),
            ("gen_ai.request.model", .string(model)), ("gen_ai.response.model", .string(model)),
            ("http.request.method", "POST"), ("url.path", .string(endpoint.rawValue)),
        ]
        for (name, keys) in Self.settings {
            guard let value = keys.lazy.compactMap({ body[$0] }).first, value.number != nil else { continue }
            attributes.append(("gen_ai.request.\(name)", value))
        }
    }

    mutating func made(_ completions: [GeneratedResult], id: String) {
        attributes += [
            ("gen_ai.response.id", .string(id)),
            (
                "gen_ai.response.finish_reasons",
                .array(completions.map { .string($0.finishReason?.rawValue ?? "") })
            ),
            ("gen_ai.usage.input_tokens", .int(completions.first?.promptTokens ?? 0)),
            ("gen_ai.usage.output_tokens", .int(completions.reduce(0) { $0 + $1.completionTokens })),
        ]
    }

    /// - Parameter status: of HTTP; 499 where the client has gone.
    func end(_ status: Int) {
        var attributes = attributes
        attributes.append(("http.response.status_code", .int(status)))
        if status >= 400 { attributes.append(("error.type", .string("\(status)"))) }
        func nanoseconds(_ seconds: Double) -> JSONValue { .string("\(Int(seconds * 1e6) * 1000)") }
        var span: JSONObject = [
            "traceId": .string(caller.first ?? Self.id(2)), "spanId": .string(Self.id(1)),
            "name": .string(name),
            // A server's.
            "kind": 2,
            "startTimeUnixNano": nanoseconds(began),
            "endTimeUnixNano": nanoseconds(Date().timeIntervalSince1970),
            "attributes": TraceExport.attributes(attributes),
            "status": status >= 500 ? ["code": 2] : [:],
        ]
        if let parent = caller.last { span["parentSpanId"] = .string(parent) }
        export.add(.object(span))
    }

    private static func id(_ words: Int) -> String {
        var bytes: [UInt8] = []
        for _ in 0..<words { JSONBytes.appendHex(.random(in: 1 ... .max), to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
