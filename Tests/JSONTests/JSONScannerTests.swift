import JSON
import Testing

/// The one reader of JSON: what it takes, what it refuses, and where it says the fault is.
struct JSONScannerTests {
    private func value(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), limits: .file)
    }

    @Test func values() throws {
        #expect(
            try value(#" {"a":[1,-25.0,true,false,null,"x"],"b":{}} "#)
                == ["a": [1, -25.0, true, false, nil, "x"], "b": [:]])
        #expect(try value(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#) == .string("\"\\/\u{8}\u{C}\n\r\té😀é"))
        let long = String(repeating: "\\n", count: 1000)
        #expect(try value("\"\(long)\"") == .string(String(repeating: "\n", count: 1000)))
        #expect(try value("9223372036854775807") == .int(.max))
        #expect(try value("9223372036854775808").number == 9_223_372_036_854_775_808)
        #expect(try value("-0").integer == 0)
    }

    /// Digit by digit: none is rounded, and none is spelled anew.
    @Test(arguments: [
        "0", "-0", "-17", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "-9223372036854775809", "1.0", "1.50", "-0.0", "1e2", "1E+5", "1e-400", "0.1234567890123456789012345",
        "123456789012345678901234567890.5",
    ])
    func numbersKeepTheirText(_ text: String) throws {
        #expect(JSONWriter.text(of: try value(text)) == text)
        #expect(try value("{\"a\":[\(text)]}").indentedText.contains("[\(text)]"))
        #expect(try value(text) != value(text.hasSuffix("0") && text.count < 3 ? text + ".0" : text + "0"))
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\" 1}",
        "{a:1}",
        "{\"a\":1 \"b\":2}", "01", "-", "1.", ".5", "1e", "+1", "1e999", "tru", "nul", "nulll", "\"", "\"a",
        "\"\\",
        "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u00e\u{E9}\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\udc00\"", "\"a\nb\"", "\"\t\"", "1 2", "[]]", "{\"a\":1,\"a\":2}", "\u{FEFF}1", "'a'", "NaN",
        "Infinity",
        "\u{0}",
    ])
    func refused(_ text: String) {
        #expect(throws: JSONFault.self) { try value(text) }
    }

    /// Steps over what a tree is not made of, and refuses the same.
    @Test func skippingIsAsStrictAsReading() throws {
        func skip(_ text: String) throws {
            try Array(text.utf8).withUnsafeBytes { try JSONScanner.scan($0, limits: .file) { try $0.skip() } }
        }
        try skip(#" {"a":[1,-2.5e1,{"b":[]},false,null,"\n"],"b":{}} "#)
        for text in ["[1,]", "{\"a\":1,}", "[01]", "[\"\\x\"]", "{\"a\":tru}", "[[]", "[] []"] {
            #expect(throws: JSONFault.self) { try skip(text) }
        }
    }

    @Test func depthAndSizeAreBounded() throws {
        let deep = 100_000
        #expect(throws: JSONFault.self) { try value(String(repeating: "[", count: deep)) }
        #expect(throws: JSONFault.self) { try value(String(repeating: "{\"a\":", count: deep)) }
        #expect(throws: JSONFault.self) { try value(String(repeating: "9", count: deep)) }
        let members = (0..<20_000).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(throws: Never.self) { try value("{\(members)}") }
        #expect(throws: JSONFault.self) { try value("{\(members),\"k7\":1}") }
        let many = "[" + String(repeating: "0,", count: 1 << 20) + "0]"
        let error = #expect(throws: JSONFault.self) {
            try JSONValue(parsing: Array(many.utf8), limits: .line)
        }
        #expect(error?.message.contains("values") == true)
    }

    @Test func invalidUTF8IsRefused() {
        for bytes: [UInt8] in [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE6, 0xBC],
        ] {
            let error = #expect(throws: JSONFault.self) {
                try JSONValue(parsing: [0x22] + bytes + [0x22], limits: .line)
            }
            #expect(error?.message.contains("UTF-8") == true)
        }
    }

    @Test func faultsSayWhere() {
        let error = #expect(throws: JSONFault.self) { try value("{\n  \"a\": x}") }
        #expect(error?.description == "line 2, column 8: expected a value")
        #expect(error?.atByte == "expected a value at byte 10")
    }

    /// Names that only Unicode's normalization makes equal are different ones.
    @Test func namesAreEqualByTheirBytes() throws {
        let object = try value("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(object["\u{E9}"] == 1 && object["e\u{301}"] == 2)
        var members = JSONObject()
        for number in 0..<100 { members["k\(number)"] = .int(number) }
        #expect(members.names == (0..<100).map { "k\($0)" } && members["k77"] == 77)
        members["k5"] = nil
        #expect(members.count == 99 && members["k5"] == nil && members[5].name == "k6")
    }
}
