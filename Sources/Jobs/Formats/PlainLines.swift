import JSON
import OperatingSystem

/// Plain text: each line that is not blank is a prompt.
package struct PlainLines: InputFormat {
    package let name = "text"

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

/// What a file's name says: `.csv`, `.tsv`, `.txt`, and JSON lines otherwise, each native or one of OpenAI's requests; with or
/// without `.gz`.
package struct FormatByName: InputFormat {
    package let name = "auto"

    package init() {}

    package func format(for path: String) -> any InputFormat {
        var name = Paths.name(of: path).lowercased()
        if name.hasSuffix(".gz") { name.removeLast(3) }
        let formats: [(ending: String, format: any InputFormat)] = [
            (".csv", DelimitedRecords.csv), (".tsv", DelimitedRecords.tsv), (".txt", PlainLines()),
        ]
        return formats.first { name.hasSuffix($0.ending) }?.format ?? OpenAILines.orNative
    }

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        OpenAILines.orNative.makeCursor(over: bytes, limit: limit)
    }
}
