import JSON

/// Part of `tokenizer_config.json` that a chat template needs.
struct TemplateConfiguration {
    /// Its source; nil if the file has none.
    let template: String?
    let specialTokens: [String: JSONValue]
    /// Newer files say everything about the tokens; beside older ones `special_tokens_map.json` counts.
    let isComplete: Bool

    /// - Throws: `ModelError` naming file and key.
    init(_ file: JSONObject, path: String) throws {
        let members = FileMembers(file, path: path)
        template = try members["chat_template"].map { try Self.source($0, members) }
        isComplete = file["added_tokens_decoder"] != nil
        specialTokens = try SpecialTokens.read(members)
    }

    /// One template, or several with names, of which "default" counts.
    private static func source(_ value: JSONValue, _ members: FileMembers) throws -> String {
        switch value {
        case .string(let source): return source
        case .array(let entries):
            let named = try entries.enumerated().map { number, entry in
                let place = "chat_template.\(number)"
                return (
                    name: try members.string("name", of: entry, at: place),
                    template: try members.string("template", of: entry, at: place)
                )
            }
            // The last of templates with the same name counts, as when Python makes a dict of them.
            if let entry = named.last(where: { $0.name == "default" }) { return entry.template }
            let names = named.map { "'\($0.name)'" }.joined(separator: ", ")
            throw ModelError(
                .unsupported, path: members.path,
                "chat_template has no template named 'default', only \(names.isEmpty ? "an empty list" : names)"
            )
        default: throw members.wrongType("chat_template")
        }
    }
}

/// The special tokens that transformers hands to templates, by name.
enum SpecialTokens {
    private static let names = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"].map { $0 + "_token" }
    private static let list = "additional_special_tokens"

    /// - Throws: `ModelError` naming file and key.
    static func read(_ members: FileMembers) throws -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for name in names {
            if let token = members[name] { values[name] = .string(try text(of: token, name, members)) }
        }
        guard let tokens = members[list] else { return values }
        guard case .array(let tokens) = tokens else { throw members.wrongType(list) }
        values[list] = .array(
            try tokens.enumerated().map { .string(try text(of: $1, "\(list).\($0)", members)) })
        return values
    }

    /// A token is text, or an object that says more about it.
    private static func text(of token: JSONValue, _ place: String, _ members: FileMembers) throws -> String {
        if case .string(let text) = token { return text }
        return try members.string("content", of: token, at: place)
    }
}

/// A file's members, with errors that name file and key. Null is as if it were not there.
struct FileMembers {
    let path: String
    private let members: JSONObject

    init(_ members: JSONObject, path: String) {
        self.members = members
        self.path = path
    }

    subscript(name: String) -> JSONValue? {
        let value = members[name]
        return value == .null ? nil : value
    }

    /// A text within a value; `place` says where that is.
    func string(_ name: String, of value: JSONValue, at place: String) throws -> String {
        guard case .object(let object) = value else { throw wrongType(place) }
        switch object[name] {
        case .string(let text)?: return text
        case nil: throw ModelError(.malformed, path: path, "the key '\(place).\(name)' is missing")
        default: throw wrongType("\(place).\(name)")
        }
    }

    func wrongType(_ key: String) -> ModelError {
        ModelError(.malformed, path: path, "the key '\(key)' has a wrong type")
    }
}
