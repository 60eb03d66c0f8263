struct TemplateToken: Equatable {
    enum Kind: Equatable {
        case data(String)
        case variableBegin
        case variableEnd
        case blockBegin
        case blockEnd
        case name(String)
        case string(String)
        case int(Int)
        case double(Double)
        case sign(String)
        case end
    }

    let kind: Kind
    let line: Int

    /// Name in messages.
    var spelling: String {
        switch kind {
        case .data: "text"
        case .variableBegin: "'{{'"
        case .variableEnd: "'}}'"
        case .blockBegin: "'{%'"
        case .blockEnd: "'%}'"
        case .name(let name): "'\(name)'"
        case .string: "a string"
        case .int, .double: "a number"
        case .sign(let sign): "'\(sign)'"
        case .end: "the end of the template"
        }
    }
}
