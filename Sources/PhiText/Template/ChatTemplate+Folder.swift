import FoundationShim
import JSON
import OperatingSystem

extension ChatTemplate {
    /// Bound of file sizes, so that a hostile folder can't fill the memory.
    private static let largestFile = 64 << 20

    /// Loads the chat template of a model folder, found like transformers: `chat_template.jinja`, else the key
    /// `chat_template` of `tokenizer_config.json`, which may be a list of named ones (of which "default" counts).
    /// - Returns: nil if there is none.
    /// - Throws: `UserError`: `malformed` or `unsupported`, naming file, line and construct.
    package static func load(path folder: String) throws -> ChatTemplate? {
        let config = try object(Paths.join(folder, "tokenizer_config.json"))
        let member = try config?.member("chat_template")
        let template = try member.flatMap { $0.isNull ? nil : try source($0) }
        var tokens = try config.map(specialTokens) ?? [:]
        // Newer files have everything about the tokens; with older ones `special_tokens_map.json` applies.
        let isComplete = try config?.names().contains("added_tokens_decoder") != false
        let map = try object(Paths.join(folder, "special_tokens_map.json")).map(specialTokens)
        for (name, value) in map ?? [:] where tokens[name] == nil || !isComplete { tokens[name] = value }

        let file = Paths.join(folder, "chat_template.jinja")
        if let data = try contents(of: file) {
            guard let source = String(validating: data, as: UTF8.self) else {
                throw UserError(.malformed, at: file, "the file is not UTF-8")
            }
            return try ChatTemplate(
                source: source, specialTokens: tokens, path: file, name: "chat template")
        }
        guard let config, let template else { return nil }
        return try ChatTemplate(
            source: template, specialTokens: tokens, path: config.path, name: "chat_template")
    }

    private static func contents(of file: String) throws -> Data? {
        guard Files.kind(of: file) != nil else { return nil }
        let mapped = try MappedFile(path: file)
        guard mapped.count <= largestFile else {
            throw UserError(.malformed, at: file, "the file is larger than \(largestFile) bytes")
        }
        return mapped.withBytes { Data($0) }
    }

    /// - Returns: nil if there is no such file.
    private static func object(_ file: String) throws -> TokenizerConfigReader? {
        guard Files.kind(of: file) != nil else { return nil }
        let members = try JSONFile.object(file, maximumBytes: largestFile)
        return TokenizerConfigReader(value: .object(members), key: "", path: file)
    }

    /// Returns one template, or the one named "default" of several.
    private static func source(_ value: TokenizerConfigReader) throws -> String {
        guard case .array = value.value else { return try value.string() }
        let named = try value.elements().map {
            (name: try $0.member("name").string(), template: try $0.member("template").string())
        }
        // Of templates with the same name the last counts, as in a Python dict.
        if let entry = named.last(where: { $0.name == "default" }) { return entry.template }
        let names = named.map { "'\($0.name)'" }.joined(separator: ", ")
        throw UserError(
            .unsupported, at: value.path,
            "chat_template has no template named 'default', only \(names.isEmpty ? "an empty list" : names)")
    }

    /// Special tokens that transformers passes to templates, by name.
    private static func specialTokens(_ file: TokenizerConfigReader) throws -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for name in ["bos", "eos", "unk", "sep", "pad", "cls", "mask"].map({ $0 + "_token" }) {
            let token = try file.member(name)
            if !token.isNull { values[name] = .string(try text(of: token)) }
        }
        let more = try file.member("additional_special_tokens")
        if !more.isNull { values[more.key] = .array(try more.elements().map { .string(try text(of: $0)) }) }
        return values
    }

    /// Returns the text of a token, which is a string or an object.
    private static func text(of token: TokenizerConfigReader) throws -> String {
        if case .string(let text) = token.value { return text }
        return try token.member("content").string()
    }
}
