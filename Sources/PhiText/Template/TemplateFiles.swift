import JSON

/// Part of `tokenizer_config.json` that a chat template needs.
struct TemplateConfiguration {
    /// Its source; nil if the file has none.
    let template: String?
    let specialTokens: [String: JSONValue]
    /// Newer files say everything about the tokens; beside older ones `special_tokens_map.json` counts.
    let isComplete: Bool

    /// - Throws: `ModelError` naming file and key.
    init(_ file: TokenizerConfigReader) throws {
        let template = try file.member("chat_template")
        self.template = template.isNull ? nil : try Self.source(template)
        isComplete = try file.names().contains("added_tokens_decoder")
        specialTokens = try SpecialTokens.read(file)
    }

    /// One template, or several with names, of which "default" counts.
    private static func source(_ value: TokenizerConfigReader) throws -> String {
        guard case .array = value.value else { return try value.string() }
        let named = try value.elements().map {
            (name: try $0.member("name").string(), template: try $0.member("template").string())
        }
        // The last of templates with the same name counts, as when Python makes a dict of them.
        if let entry = named.last(where: { $0.name == "default" }) { return entry.template }
        let names = named.map { "'\($0.name)'" }.joined(separator: ", ")
        throw ModelError(
            .unsupported, path: value.path,
            "chat_template has no template named 'default', only \(names.isEmpty ? "an empty list" : names)")
    }
}

/// The special tokens that transformers hands to templates, by name.
enum SpecialTokens {
    private static let names = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"].map { $0 + "_token" }
    private static let list = "additional_special_tokens"

    /// - Throws: `ModelError` naming file and key.
    static func read(_ file: TokenizerConfigReader) throws -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for name in names {
            let token = try file.member(name)
            if !token.isNull { values[name] = .string(try text(of: token)) }
        }
        let tokens = try file.member(list)
        if !tokens.isNull { values[list] = .array(try tokens.elements().map { .string(try text(of: $0)) }) }
        return values
    }

    /// A token is text, or an object that says more about it.
    private static func text(of token: TokenizerConfigReader) throws -> String {
        if case .string(let text) = token.value { return text }
        return try token.member("content").string()
    }
}
