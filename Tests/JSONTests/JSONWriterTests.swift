import JSON
import Testing

struct JSONWriterTests {
    @Test func theWriterEscapesAndRoundTrips() throws {
        var writer = JSONWriter()
        let text = "q\" b\\ \n\r\t\u{8}\u{C}\u{1}\u{7F}\u{85}\u{2028}\u{2029}\u{2027} é 日 😀"
        writer.object { writer in
            writer.key("s")
            writer.string(text)
            writer.key("n")
            writer.array { writer in
                writer.number(0.1)
                writer.number(Float(0.1))
                writer.number(3.0)
                writer.number(-1e-7)
                writer.number(Double.infinity)
                writer.bool(true)
                writer.int(-7)
            }
            writer.key("e")
            writer.object { _ in }
        }
        #expect(
            writer.text == #"{"s":"q\" b\\ \n\r\t\b\f\u0001\u007f\u0085\u2028\u2029"# + "\u{2027} é 日 😀"
                + #"","n":[0.1,0.1,3,-1e-07,null,true,-7],"e":{}}"#)
        #expect(try JSONValue(parsing: writer.bytes, limits: .line)["s"] == .string(text))
    }

    @Test func indentedTextReadsBack() throws {
        let value: JSONValue = [
            "a": [1, 2.5, "x\n"], "b": [["c": nil]], "d": [:], "e": [], "f": .float(0.1),
        ]
        let text = value.indentedText
        #expect(
            text == """
                {
                  "a": [1, 2.5, "x\\n"],
                  "b": [
                    {
                      "c": null
                    }
                  ],
                  "d": {},
                  "e": [],
                  "f": 0.1
                }

                """)
        #expect(try JSONValue(parsing: Array(text.utf8), limits: .file) == value)
    }
}
