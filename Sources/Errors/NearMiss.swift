/// Suggests the right name for a misspelt one.
package enum NearMiss {
    /// Returns ` Did you mean "max_tokens"?`, or nothing if no candidate is near.
    package static func hint(for name: String, among candidates: [String]) -> String {
        guard name.utf8.count <= 64 else { return "" }
        if let known = synonyms[name], candidates.contains(known) { return " Did you mean \(known)?" }
        let simple = simplified(name)
        let distances = candidates.map { (candidate: $0, distance: distance(simple, simplified($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }),
            best.distance <= max(1, simple.count / 3)
        else { return "" }
        return " Did you mean \(best.candidate)?"
    }

    /// Names of settings in other programs.
    private static let synonyms = [
        "n": "samples", "num_return_sequences": "samples", "max_new_tokens": "max_tokens",
        "max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens", "temp": "temperature",
        "stop_sequences": "stop", "guided_json": "schema", "guided_regex": "regex",
        "guided_grammar": "grammar",
        "guided_choice": "choices", "repeat_penalty": "repetition_penalty", "batch_size": "workers",
        "schema": "response_format", "functions": "tools", "function_call": "tool_choice",
        "num_predict": "max_tokens", "n_predict": "max_tokens",
    ]

    private static func simplified(_ name: String) -> [UInt8] {
        name.lowercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
    }

    /// Returns the edit distance (insertions, deletions, replacements, swaps of neighbours).
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var before: [Int] = []
        var previous = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var best = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
                row.append(best)
            }
            (before, previous) = (previous, row)
        }
        return previous[b.count]
    }
}
