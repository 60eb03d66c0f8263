/// The format that a job has for its input or its output; equal to another of that name.
package struct FormatChoice<Format: Sendable>: Sendable, Equatable {
    package let format: Format
    private let name: String

    package static func == (a: Self, b: Self) -> Bool { a.name == b.name }
}

extension FormatChoice<any InputFormat> {
    package init(_ format: any InputFormat) { self.init(format: format, name: format.name) }
}

extension FormatChoice<any ResultFormat> {
    package init(_ format: any ResultFormat) { self.init(format: format, name: format.name) }
}
