import ArgumentParser
import BatchPipeline

/// Settings of one section of the help.
protocol SettingGroup {
    static var keys: [JobKey] { get }
}

/// Options of a group of settings.
///
/// The parser finds a type's options by its members. Here the members are made from the table of settings, so that a
/// setting is declared once.
struct SettingOptions<Group: SettingGroup>: ParsableArguments, CustomReflectable {
    private(set) var given: [WrittenSetting] = []

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        for key in Group.keys {
            let name = Name(stringValue: key.name)
            let texts =
                key.form == .flag
                ? try values.decodeIfPresent(Bool.self, forKey: name).map { ["\($0)"] } ?? []
                : try values.decode([String].self, forKey: name)
            if !texts.isEmpty { given.append(WrittenSetting(key, texts)) }
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Group.keys.map { (label: $0.name, value: $0.parsed) })
    }
}

extension JobKey {
    /// Declaration of the setting for the parser.
    fileprivate var parsed: Any {
        var names: [NameSpecification.Element] = [.customLong(optionName)]
        if let letter { names.insert(.customShort(letter), at: 0) }
        let name = NameSpecification(names)
        if form == .flag {
            return Flag<Bool?>(
                name: name, inversion: .prefixedNo, exclusivity: .exclusive, help: ArgumentHelp(sentence))
        }
        // A list in any case, to detect a repeated value. The word after an option is always its value, so that
        // negative numbers and texts like --x can be given.
        return Option<[String]>(
            wrappedValue: [], name: name, parsing: .unconditionalSingleValue,
            help: ArgumentHelp(sentence, valueName: placeholder), completion: completion)
    }

    /// The option as it is written.
    var way: String {
        let names = (letter.map { "-\($0), " } ?? "") + option
        return form == .flag ? "\(names) or --no-\(optionName)" : "\(names) <\(placeholder)>"
    }

    /// The help as a sentence.
    var sentence: String {
        let several = form.isList && !help.contains("may be repeated") ? "; may be repeated" : ""
        // A word of the setting's own keeps its case.
        let isWord = words.contains { help.hasPrefix($0) }
        return (isWord ? help.prefix(1) : help.prefix(1).uppercased()[...]) + help.dropFirst() + several + "."
    }

    private var completion: CompletionKind? {
        switch placeholder {
        case "MODEL", "FOLDER": .directory
        case "FILE": .file()
        default: words.isEmpty ? nil : .list(words)
        }
    }
}
