import Errors

/// Precision of some layers, as in `*.down_proj=6:32` or `lm_head=none`.
package struct LayerRule: Sendable, Equatable {
    /// As it was given.
    package let text: String
    private let pattern: [UInt8]
    /// Nil leaves the layers as they are.
    let bits: Int?
    /// Nil takes the usual one.
    let groupSize: Int?

    /// - Parameter text: `PATTERN=BITS[:GROUP]` or `PATTERN=none`. The pattern is a layer's path, in which `*` stands
    ///   for any characters.
    /// - Throws: `UserError` of kind `badRequest`.
    package init(_ text: String) throws {
        func fault(_ what: Message) -> UserError {
            UserError(.badRequest, "the layer rule \"\(text)\" \(what).")
        }
        self.text = text
        guard let sign = text.utf8.lastIndex(of: UInt8(ascii: "=")), sign > text.startIndex else {
            throw fault("is not of the form PATTERN=BITS, PATTERN=BITS:GROUP or PATTERN=none")
        }
        pattern = Array(text.utf8[..<sign])
        let value = text[sign...].dropFirst()
        guard value != "none" else {
            (bits, groupSize) = (nil, nil)
            return
        }
        let numbers = value.split(at: ":", keepingEmpty: true)
        guard let bits = Int(numbers[0]), QuantizationParameters.supportedBits.contains(bits) else {
            throw fault("needs 2, 3, 4, 5, 6 or 8 bits, or none")
        }
        self.bits = bits
        guard numbers.count > 1 else {
            groupSize = nil
            return
        }
        guard numbers.count == 2, let group = Int(numbers[1]),
            QuantizationParameters.supportedGroupSizes.contains(group)
        else { throw fault("needs groups of 32, 64 or 128") }
        groupSize = group
    }

    func fits(_ path: String) -> Bool {
        let path = Array(path.utf8)
        var (at, place) = (0, 0)
        // After the last star: where to go on, with one character more for the star.
        var star: (after: Int, place: Int)?
        while place < path.count {
            if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
                at += 1
                star = (at, place)
            } else if at < pattern.count, pattern[at] == path[place] {
                (at, place) = (at + 1, place + 1)
            } else if let last = star {
                star = (last.after, last.place + 1)
                (at, place) = (last.after, last.place + 1)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
