import JSON

/// Results of OpenAI's batch API, ours and foreign.
extension ReportedResult {
    /// - Returns: a result for each choice; nil if the line is no such result.
    static func openAI(_ line: UnsafeRawBufferPointer) -> [ReportedResult]? {
        guard let json = try? JSONValue(parsing: line, limits: .ownLine), let id = json.string("custom_id"),
            json["response"] != nil
        else { return nil }
        let lineHash = json.string("id").flatMap { id -> UInt64? in
            guard id.hasPrefix("batch_req_"), id.utf8.count == 26 else { return nil }
            return UInt64(id.dropFirst(10), radix: 16)
        }
        let body = json["response"]?["body"]
        var results = failure(id, json, body).map { [$0] } ?? body.map { choices(id, $0) } ?? []
        if results.isEmpty { results = [ReportedResult(id: id, status: "unknown")] }
        let known = ["id", "custom_id", "response", "error"]
        for number in results.indices {
            results[number].sample = number
            results[number].lineHash = lineHash
            results[number].model = body?.string("model")
            if !results[number].isFailed, let text = results[number].text {
                results[number].fields = ReportedField.parts(ofAnswer: text)
            }
            guard case .object(let members) = json else { continue }
            for member in members where !known.contains(member.name) {
                results[number].facts.append((member.name, text(of: member.value)))
                results[number].fields += ReportedField.parts(of: member.value, at: [member.name], .line)
            }
        }
        return results
    }

    private static func failure(_ id: String, _ json: JSONValue, _ body: JSONValue?) -> ReportedResult? {
        let error = [body?["error"], json["error"]].compactMap(\.self).first { $0 != .null }
        let code = json["response"]?.int("status_code") ?? 0
        guard error != nil || code >= 400 else { return nil }
        var result = ReportedResult(
            id: id, status: error?.string("code") ?? error?.string("type") ?? "status_\(code)")
        result.isFailed = true
        result.message = error?.string("message") ?? error.map(text) ?? "The status is \(code)."
        result.line = error?.int("line")
        result.text = error?.string("text")
        return result
    }

    private static func choices(_ id: String, _ body: JSONValue) -> [ReportedResult] {
        let usage = body["usage"]
        let prompt = usage?.int("prompt_tokens") ?? usage?.int("input_tokens")
        let made = usage?.int("completion_tokens") ?? usage?.int("output_tokens")
        if case .array(let choices)? = body["choices"] {
            return choices.enumerated().map { number, choice in
                var result = ReportedResult(id: id, status: choice.string("finish_reason") ?? "unknown")
                result.text = choice["message"]?.string("content") ?? choice.string("text") ?? ""
                result.promptTokens = number == 0 ? prompt : nil
                if case .array(let tokens)? = choice["token_ids"] {
                    result.completionTokens = tokens.count
                } else if choices.count == 1 {
                    result.completionTokens = made
                } else if number == 0 {
                    result.lineCompletionTokens = made
                }
                return result
            }
        }
        guard case .array(let items)? = body["output"] else { return [] }
        let isCut = body.string("status") == "incomplete"
        var result = ReportedResult(id: id, status: isCut ? "length" : "stop")
        (result.promptTokens, result.completionTokens) = (prompt, made)
        result.text = items.flatMap { item -> [String] in
            guard case .array(let parts)? = item["content"] else { return [] }
            return parts.compactMap { $0.string("text") }
        }.joined()
        return [result]
    }
}
