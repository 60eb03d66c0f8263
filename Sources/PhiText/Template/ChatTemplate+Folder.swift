import Essentials
import JSON
import OperatingSystem

extension ChatTemplate {
    /// The files' sizes are bounded so that a hostile folder can't fill the memory.
    private static let largestFile = 64 << 20

    /// The chat template of a model folder, found as transformers finds it: `chat_template.jinja`, else the
    /// key `chat_template` of `tokenizer_config.json`, which may be a list of named ones ("default" counts).
    /// - Returns: Nil if there is none.
    /// - Throws: `ModelError`: `malformed` or `unsupported`, naming file, line and construct.
    package static func load(path folder: String) throws -> ChatTemplate? {
        let configFile = Paths.join(folder, "tokenizer_config.json")
        let config = try object(configFile).map(TemplateConfiguration.init)
        var tokens = config?.specialTokens ?? [:]
        // The tokenizer's own configuration counts; older folders keep the tokens only in the other file.
        let mapFile = Paths.join(folder, "special_tokens_map.json")
        let map = try object(mapFile).map(SpecialTokens.read)
        for (name, value) in map ?? [:] where tokens[name] == nil || config?.isComplete == false {
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
            source: template, specialTokens: tokens, path: configFile, name: "chat_template")
    }

    private static func contents(of file: String) throws -> Data? {
        guard Files.kind(of: file) != nil else { return nil }
        let mapped = try MappedFile(path: file)
        guard mapped.count <= largestFile else {
            throw ModelError(.malformed, path: file, "the file is larger than \(largestFile) bytes")
        }
        return mapped.withBytes { Data($0) }
    }

    /// - Returns: nil if there is no such file.
    private static func object(_ file: String) throws -> TokenizerConfigReader? {
        guard Files.kind(of: file) != nil else { return nil }
        let members = try JSONFile.object(file, maximumBytes: largestFile)
        return TokenizerConfigReader(value: .object(members), key: "", path: file)
    }
}
