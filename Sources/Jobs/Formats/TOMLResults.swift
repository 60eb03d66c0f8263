import JSON

/// TOML 1.0 in UTF-8: a table of the array `results` for each result, with the members of `results: full`. Members that
/// are null are left out, as TOML has no such value.
///
///     [[results]]
///     id = "salt"
///     text = "…"
///     usage = {prompt_tokens = 12, completion_tokens = 24}
struct TOMLResults: ResultFormat {
    let name = "toml"
    let nameEnds = ["toml"]

    func write(_ piece: ResultPiece, to output: inout [UInt8]) {
        let writer = JSONWriter.object { writer in
            writer.string("id", piece.place.key.id)
            if piece.run.samples > 1 { writer.int("sample", piece.place.key.sample) }
            ResultCoding.write(piece.results[0], .row, to: &writer)
        }
        guard case .object(let members)? = try? JSONValue(parsing: writer.bytes, limits: .ownLine) else {
            preconditionFailure("a row of ours is an object")
        }
        output += ((piece.isFirst ? "" : "\n") + "[[results]]\n").utf8
        for member in members where member.value != .null { output += (Self.pair(member) + "\n").utf8 }
    }

    private static func pair(_ member: JSONMember) -> String {
        text(.string(member.name)) + " = " + text(member.value)
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .array(let elements):
            "[" + elements.filter { $0 != .null }.map(text).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.filter { $0.value != .null }.map(pair).joined(separator: ", ") + "}"
        // Strings of JSON are TOML's, but for one character.
        default: JSONWriter.text(of: value).replacing("\u{7F}", with: "\\u007F")
        }
    }
}
