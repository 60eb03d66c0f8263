import Testing

@testable import PhiModel

/// What is read from a config.json with the members `base` and `changes` (nil takes a key away).
func architecture(_ base: [String: String], _ changes: [String: String?]) throws -> any Architecture {
    let scratch = try ScratchFolder()
    var members = base
    for (key, value) in changes { members[key] = value }
    let text = members.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ",\n")
    try scratch.write("config.json", "{\(text)}")
    return try Architectures.read(folder: scratch.path)
}

/// Such a file is refused with a message that has `message`.
func expectRefusal(_ base: [String: String], _ changes: [String: String?], _ message: String) {
    let error = #expect(throws: UserError.self) { try architecture(base, changes) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
}
