import FoundationShim
import OperatingSystem
import Testing

/// Marks in text, whatever stands beside them.
@Suite struct ByteMarksTests {
    @Test(arguments: [
        "\u{301}", "\u{200D}", "\u{200C}", "\u{FE0F}", "\u{600}", "\u{E0100}", "\u{903}", "\0", "\n", "\r",
    ])
    func marksAreFoundByBytes(joined: String) {
        for text in ["a\(joined)/b", "a/\(joined)b", "a\(joined)/\(joined)b"] {
            let parts = text.split(at: "/")
            #expect(parts.count == 2 && Paths.areEqual(parts.joined(separator: "/"), text))
            let place = text.utf8.firstIndex(of: UInt8(ascii: "/"))
            #expect(text.firstIndex(at: "/") == place && text.lastIndex(at: "/") == place && text.has("/"))
            #expect(Paths.areEqual(String(text.prefix(until: "?", "/")), String(parts[0])))
            let quoted = text.replacing(each: "/", with: "//")
            #expect(quoted.utf8.count == text.utf8.count + 1)
            #expect(Array(quoted.utf8).contains(Array("//".utf8)))
        }
        #expect("a\(joined)".split(at: "/").count == 1 && "//a".split(at: "/", keepingEmpty: true).count == 3)
        #expect("a=b=\(joined)c".split(at: "=", max: 1).map { $0.utf8.count } == [1, 3 + joined.utf8.count])
    }

    @Test func addressesHideWhatIsSecret() {
        for joined in ["\u{301}", "\u{200D}"] {
            let shown = Addresses.shown(
                "https://user:secret@\(joined)host/a?sig=secret&\(joined)token\(joined)=secret#\(joined)secret"
            )
            #expect(!shown.contains("user:secret") && !shown.contains("sig=secret"), "\(shown)")
        }
    }
}
