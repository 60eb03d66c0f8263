import Foundation
import Foundations

extension ChatTemplate {
    /// The files' sizes are bounded so that a hostile folder can't fill the memory.
    private static let largestFile = 64 << 20

    /// The chat template of a model folder.
    /// - Throws: `ModelError`: `missing` if the folder has no chat template, otherwise as `load(folder:)`.
    package init(folder: URL) throws {
        let path = String(filePathOf: folder)
        guard let template = try ChatTemplate.load(path: path) else {
            throw ModelError(
                .missing, path: path,
                "the folder has no chat template (neither chat_template.jinja nor a chat_template in "
                    + "tokenizer_config.json)")
        }
        self = template
    }

    /// The chat template of a model folder, found as transformers finds it: `chat_template.jinja`, else the
    /// key `chat_template` of `tokenizer_config.json`, which may be a list of named ones ("default" counts).
    /// - Returns: Nil if there is none.
    /// - Throws: `ModelError`: `malformed` or `unsupported`, naming file, line and construct.
    package static func load(folder: URL) throws -> ChatTemplate? {
        try load(path: String(filePathOf: folder))
    }

    static func load(path folder: String) throws -> ChatTemplate? {
        let configFile = Paths.join(folder, "tokenizer_config.json")
        let config = try read(configFile, as: TokenizerConfig.self)
        var tokens = config?.specialTokens ?? [:]
        // The tokenizer's own configuration counts; older folders keep the tokens only in the other file.
        let map = try read(Paths.join(folder, "special_tokens_map.json"), as: SpecialTokens.self)
        for (name, value) in map?.values ?? [:] where tokens[name] == nil || config?.isComplete == false {
            tokens[name] = value
        }

        let file = Paths.join(folder, "chat_template.jinja")
        if let data = try contents(of: file) {
            guard let source = String(validating: data, as: UTF8.self) else {
                throw ModelError(.malformed, path: file, "the file is not UTF-8")
            }
            return try ChatTemplate(
                source: source, specialTokens: tokens, path: file, name: "chat template")
        }
        guard let template = config?.template else { return nil }
        return try ChatTemplate(
            source: try template.source(path: configFile), specialTokens: tokens, path: configFile,
            name: "chat_template")
    }

    private static func contents(of file: String) throws -> Data? {
        guard Files.kind(of: file) != nil else { return nil }
        let mapped = try MappedFile(path: file)
        guard mapped.count <= largestFile else {
            throw ModelError(.malformed, path: file, "the file is larger than \(largestFile) bytes")
        }
        return mapped.withBytes { Data($0) }
    }

    private static func read<T: Decodable>(_ file: String, as type: T.Type) throws -> T? {
        guard let data = try contents(of: file) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch let DecodingError.typeMismatch(_, context), let DecodingError.valueNotFound(_, context) {
            let key = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw ModelError(
                .malformed, path: file,
                key.isEmpty ? "the file must hold a JSON object" : "the key '\(key)' has a wrong type")
        } catch let DecodingError.keyNotFound(key, context) {
            let path = (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
            throw ModelError(.malformed, path: file, "the key '\(path)' is missing")
        } catch {
            throw ModelError(.malformed, path: file, "the file is not valid JSON")
        }
    }
}

/// What a chat template needs of `tokenizer_config.json`.
private struct TokenizerConfig: Decodable {
    var template: TemplateEntry?
    var specialTokens: [String: JSONValue]
    /// Newer files say everything about the tokens; beside older ones `special_tokens_map.json` counts.
    var isComplete: Bool

    private enum Keys: String, CodingKey {
        case template = "chat_template"
        case addedTokens = "added_tokens_decoder"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        template = try container.decodeIfPresent(TemplateEntry.self, forKey: .template)
        isComplete = container.contains(.addedTokens)
        specialTokens = try SpecialTokens(from: decoder).values
    }
}

/// The value of `chat_template`: one template, or several with names.
private enum TemplateEntry: Decodable {
    struct Named: Decodable {
        var name: String
        var template: String
    }

    case one(String)
    case several([Named])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .one(text)
        } else {
            self = .several(try container.decode([Named].self))
        }
    }

    func source(path: String) throws -> String {
        switch self {
        case .one(let text): return text
        case .several(let entries):
            // Of templates with the same name the last one counts, as when Python makes a dict of them.
            if let entry = entries.last(where: { $0.name == "default" }) { return entry.template }
            let names = entries.map { "'\($0.name)'" }.joined(separator: ", ")
            throw ModelError(
                .unsupported, path: path,
                "chat_template has no template named 'default', only \(names.isEmpty ? "an empty list" : names)"
            )
        }
    }
}

/// The special tokens that transformers hands to templates, by name.
private struct SpecialTokens: Decodable {
    var values: [String: JSONValue] = [:]

    /// A token is text, or an object that says more about it.
    private struct Token: Decodable {
        var text: String

        private enum Keys: String, CodingKey { case content }

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self.text = text
            } else {
                text = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .content)
            }
        }
    }

    private static let names = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"].map { $0 + "_token" }
    private static let list = "additional_special_tokens"

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for name in Self.names {
            if let token = try container.decodeIfPresent(Token.self, forKey: Key(stringValue: name)) {
                values[name] = .string(token.text)
            }
        }
        if let tokens = try container.decodeIfPresent([Token].self, forKey: Key(stringValue: Self.list)) {
            values[Self.list] = .array(tokens.map { .string($0.text) })
        }
    }
}
