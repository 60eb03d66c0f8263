import JSON
import OperatingSystem

/// Plain text: each line that is not blank is a prompt.
package struct PlainLines: InputFormat {
    package let name = "text"
    package let nameEnds = ["txt"]

    package init() {}

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        Cursor(lines: NativeLines().makeCursor(over: bytes, limit: limit))
    }

    private struct Cursor: InputCursor {
        var lines: any InputCursor

        mutating func next() throws -> InputRecord? {
            var record = try lines.next()
            // Any text is whole.
            record?.isUnterminated = false
            return record
        }

        func fields(of record: InputRecord) throws(LineError) -> JSONValue {
            guard let text = String(validating: record.bytes, as: UTF8.self) else {
                throw LineError(.invalidUTF8, "The line is not valid UTF-8.")
            }
            return ["prompt": .string(text)]
        }
    }
}

/// What a file's name says, with or without `.gz` or `.zst`; JSON lines if that is nothing, each native or one of OpenAI's requests.
package struct FormatByName: InputFormat {
    package let name = "auto"
    private var cells = CellFormat()

    package init() {}

    package func with(_ cells: CellFormat) -> any InputFormat {
        var format = self
        format.cells = cells
        return format
    }

    package func format(for path: String) -> any InputFormat {
        let name = Packing.stem(ofName: Paths.name(of: path).lowercased())
        let named = InputFormats.all.first { $0.nameEnds.contains { name.hasSuffix("." + $0) } }
        guard let named, named.isOf(path) else { return OpenAILines.orNative }
        return named.with(cells)
    }

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        OpenAILines.orNative.makeCursor(over: bytes, limit: limit)
    }
}
