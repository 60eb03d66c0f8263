import JSON
import OperatingSystem

/// Plain text: each line that is not blank is a prompt.
package struct PlainLines: InputFormat {
    package let name = "text"
    package let nameEnds = ["txt"]

    package init() {}

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        LineCursor(bytes: bytes, limit: limit, isText: true, parse: Self.content)
    }

    fileprivate static func content(of record: InputRecord) throws(LineError) -> LineContent {
        guard let text = String(validating: record.bytes, as: UTF8.self) else {
            throw LineError(.invalidUTF8, "The line is not valid UTF-8.")
        }
        return LineContent(fields: ["prompt": .string(text)])
    }
}

/// The format by a file's name, with or without `.gz` or `.zst`; by default JSON lines, native or OpenAI's requests.
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

/// Plain text in which a prompt may span lines and ends at a blank line.
struct Paragraphs: InputFormat {
    let name = "paragraphs"

    func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        Cursor(bytes: bytes, limit: limit)
    }

    private struct Cursor: InputCursor {
        let bytes: InputBytes
        let limit: Int

        mutating func next() throws -> InputRecord? {
            var (record, length): (InputRecord?, Int) = (nil, 0)
            while var line = try bytes.nextLine(limit: limit) {
                if line.bytes.last == 0x0D { line.bytes.removeLast() }
                if line.length <= limit, line.bytes.isBlank {
                    if record != nil { break }
                    continue
                }
                length += line.length + (record == nil ? 0 : 1)
                if record == nil {
                    record = InputRecord(bytes: line.bytes, number: bytes.lineCount)
                } else if length <= limit {
                    record?.bytes += [0x0A] + line.bytes
                }
                if length > limit {
                    record?.bytes = []
                    record?.excessLength = length
                }
            }
            return record
        }

        func content(of record: InputRecord) throws(LineError) -> LineContent {
            try PlainLines.content(of: record)
        }
    }
}
