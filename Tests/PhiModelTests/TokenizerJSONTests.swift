import Foundation
import Testing

@testable import PhiModel

struct TokenizerJSONTests {
    private func value(_ text: String) throws -> JSONScanner.Value {
        try JSONScanner.scan(Data(text.utf8), path: "f") { try $0.value() }
    }

    @Test func values() throws {
        #expect(
            try value(#" {"a":[1,-2.5e1,true,false,null,"x"],"b":{}} "#)
                == .object([
                    .init(
                        key: "a",
                        value: .array([
                            .integer(1), .number(-25), .bool(true), .bool(false), .null, .string("x"),
                        ])),
                    .init(key: "b", value: .object([])),
                ]))
        #expect(try value(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#) == .string("\"\\/\u{8}\u{C}\n\r\té😀é"))
        let long = String(repeating: "\\n", count: 1000)
        #expect(try value("\"\(long)\"") == .string(String(repeating: "\n", count: 1000)))
        #expect(try value("9223372036854775807") == .integer(.max))
        #expect(try value("9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(try value("-0") == .integer(0))
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1 \"b\":2}",
        "01", "-", "1.", ".5", "1e", "+1", "1e999", "tru", "nul", "\"", "\"\\", "\"\\x\"", "\"\\u12\"",
        "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"a\nb\"", "1 2", "[]]",
        "{\"a\":1,\"a\":2}", "\u{FEFF}1", "'a'",
    ])
    func refused(_ text: String) {
        #expect { try value(text) } throws: { ($0 as? ModelError)?.kind == .malformed }
    }

    @Test func invalidUTF8IsRefused() {
        for bytes: [UInt8] in [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE6, 0xBC],
        ] {
            let data = Data([0x22] + bytes + [0x22])
            #expect { try JSONScanner.scan(data, path: nil) { try $0.value() } } throws: {
                ($0 as? ModelError)?.message.contains("UTF-8") == true
            }
        }
    }

    @Test func errorsNameLineAndColumn() {
        #expect { try value("{\n  \"a\": x}") } throws: {
            "\($0)" == "f: line 2, column 8: expected a value"
        }
    }

    /// Repair agrees with Swift's own, however the bytes are cut.
    @Test func repairsUTF8() {
        var generator = SplitMix(state: 1)
        let interesting: [UInt8] = [
            0x41, 0x80, 0xBF, 0xA0, 0x90, 0xC3, 0xC0, 0xE0, 0xED, 0xE6, 0xF0, 0xF4, 0xFF,
        ]
        for _ in 0..<3000 {
            let bytes = (0..<8).map { _ in interesting.randomElement(using: &generator) ?? 0 }
            var repair = UTF8Repair()
            var output: [UInt8] = []
            for byte in bytes { repair.feed([byte], into: &output) }
            repair.finish(into: &output)
            #expect(output == Array(String(decoding: bytes, as: UTF8.self).utf8), "\(bytes)")
        }
    }
}
