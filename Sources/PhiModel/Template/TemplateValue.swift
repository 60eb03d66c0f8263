/// A value handed to a template: what JSON can say, with the order of an object's members kept.
public enum TemplateValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([TemplateValue])
    /// Members in their order. Of members with the same name the last one counts, as in JSON parsers.
    case object([TemplateMember])
}

/// One member of a `TemplateValue.object`.
public struct TemplateMember: Sendable, Equatable {
    public var name: String
    public var value: TemplateValue

    public init(name: String, value: TemplateValue) {
        self.name = name
        self.value = value
    }
}

extension TemplateValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: TemplateValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, TemplateValue)...) {
        self = .object(elements.map { TemplateMember(name: $0.0, value: $0.1) })
    }
}
