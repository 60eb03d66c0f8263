import JSON

/// XML: an element for each result, whose members are elements.
package struct XMLResults: ResultFormat {
    package let name = "xml"
    package let nameEnds = ["xml"]

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder {
        Encoder(row: NativeResults().makeEncoder(for: run))
    }

    private struct Encoder: ResultEncoder {
        /// Writes a result as a JSON line.
        var row: any ResultEncoder

        mutating func begin(_ output: inout [UInt8]) { output += "<results>\n".utf8 }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            var line: [UInt8] = []
            row.append(result, at: place, to: &line)
            output += "<result>".utf8
            if case .object(let members)? = try? JSONValue(parsing: line, limits: .ownLine) {
                for member in members {
                    output += "<\(member.name)>".utf8
                    let text =
                        if case .string(let text) = member.value { text } else {
                            JSONWriter.text(of: member.value)
                        }
                    for byte in text.utf8 {
                        switch byte {
                        case UInt8(ascii: "<"): output += "&lt;".utf8
                        case UInt8(ascii: "&"): output += "&amp;".utf8
                        default: output.append(byte)
                        }
                    }
                    output += "</\(member.name)>".utf8
                }
            }
            output += "</result>\n".utf8
        }

        mutating func end(_ output: inout [UInt8]) { output += "</results>\n".utf8 }
    }
}
