import Errors
import OperatingSystem

/// Precision of some layers, as in `*.down_proj=6:32` or `lm_head=none`.
package struct LayerRule: Sendable, Equatable {
    /// As it was given.
    package let text: String
    /// As `fnmatch` reads it.
    private let pattern: String
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
        pattern = text[..<sign].reduce(into: "") { $0 += "?[\\".contains($1) ? "\\\($1)" : String($1) }
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

    func fits(_ path: String) -> Bool { Files.pattern(pattern, fitsName: path) }
}
