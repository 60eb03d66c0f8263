import OperatingSystem
import Testing

struct PathsTests {
    @Test(arguments: [
        ("X", ".", "X"), ("é", ".", "é"), ("Y/", ".", "Y"), ("a/b", "a", "b"), ("a/b/", "a", "b"),
        ("a//b", "a", "b"), ("/a", "/", "a"), ("//a//", "/", "a"), ("/", "/", ""), ("//", "/", ""),
        ("", ".", ""),
        (".", ".", "."), ("..", ".", ".."), ("../x", "..", "x"), ("n/o.jsonl", "n", "o.jsonl"),
        ("/a/b/c", "/a/b", "c"), ("a/\u{301}b", "a", "\u{301}b"), ("/\u{301}", "/", "\u{301}"),
    ])
    func folderAndName(path: String, folder: String, name: String) {
        #expect(Paths.areEqual(Paths.folder(of: path), folder), "\(path): \(Paths.folder(of: path))")
        #expect(Paths.areEqual(Paths.name(of: path), name), "\(path): \(Paths.name(of: path))")
    }

    @Test(arguments: [
        ("a", "b", "a/b"), ("a/", "b", "a/b"), ("", "b", "b"), (".", "b", "b"), ("a", "/b", "/b"),
        ("/", "b", "/b"),
        ("..", "../b", "../../b"), ("a", "\u{301}b", "a/\u{301}b"), ("a", "/\u{301}b", "/\u{301}b"),
    ])
    func joined(folder: String, name: String, path: String) {
        #expect(Paths.areEqual(Paths.join(folder, name), path), "\(Paths.join(folder, name))")
    }

    @Test(arguments: [
        "", "/", "/a", "a/", "a//b", ".", "./a", "a/.", "..", "../a", "a/../b", "a/..", "a\0b", "a\nb",
        "a\u{7f}",
        "a\u{85}", "a/\u{1b}[m", String(repeating: "x", count: 256),
        "a/" + String(repeating: "é", count: 128),
    ])
    func namesOfOthersThatLeadElsewhere(name: String) { #expect(Paths.fault(inForeign: name) != nil) }

    @Test(arguments: [
        "a", "a/b", "...", ".a", "..a/b..", "a b", "a\\b", "é/\u{301}", String(repeating: "x", count: 255),
        "-a",
    ])
    func namesOfOthersThatStayBelow(name: String) { #expect(Paths.fault(inForeign: name) == nil) }

    @Test func withinAFolder() {
        #expect(Paths.isWithin("/a", "/a/b") && Paths.isWithin("/", "/a") && Paths.isWithin("/a/", "/a/b/c"))
        #expect(!Paths.isWithin("/a", "/ab") && !Paths.isWithin("/a", "/a") && !Paths.isWithin("/a", "/a/"))
        #expect(Paths.isWithin("/a", "/a/\u{301}"))
        #expect(!Paths.areEqual("\u{E9}", "e\u{301}"), "two files, though Swift calls the strings equal")
    }
}

struct PathBytesTests {
    @Test(
        arguments: [
            [], Array("plain.jsonl".utf8), Array("é".utf8), [0xFF], [0x61, 0xC3, 0x28], [0xC3], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF], [0xF0, 0x9F, 0x98, 0x80, 0x80],
            // U+10FEFF, the range's own last character, alone and in company.
            [0xF4, 0x8F, 0xBB, 0xBF], [0xFF, 0xF4, 0x8F, 0xBB, 0xBF], [0xF4, 0x8F, 0xBA, 0x80], [0xF4, 0x8F],
        ] as [[UInt8]])
    func bytesComeBack(bytes: [UInt8]) {
        let path = String(pathBytes: bytes)
        #expect(path.pathBytes == bytes)
        #expect(path.cPath == bytes.map { CChar(bitPattern: $0) } + [0])
        #expect(String(pathBytes: path.pathBytes).utf8.elementsEqual(path.utf8))
        #expect(String(cPath: path.cPath).utf8.elementsEqual(path.utf8))
        #expect(path.textOfPath == String(validating: bytes, as: UTF8.self))
    }

    @Test func noTwoPathsAreTheSameString() {
        var generator = SmallGenerator()
        // Bytes around which mistakes would be made.
        let likely: [UInt8] = [0x2F, 0x61, 0x80, 0x8F, 0xBA, 0xBB, 0xBF, 0xC3, 0xA9, 0xF4, 0xFE, 0xFF]
        var bytesOf: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<50_000 {
            let bytes = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                likely.randomElement(using: &generator) ?? 0
            }
            let text = Array(String(pathBytes: bytes).utf8)
            #expect(bytesOf.updateValue(bytes, forKey: text) ?? bytes == bytes)
            #expect(String(decoding: text, as: UTF8.self).pathBytes == bytes)
        }
    }

    @Test func bytesAreShown() {
        #expect(String(pathBytes: [0x61, 0xFF, 0x2E, 0x80]).showingBytes == #"a\xff.\x80"#)
        #expect("é\\x41".showingBytes == "é\\x41")
        #expect(String(pathBytes: Array("é".utf8) + [0xC3]).showingBytes == #"é\xc3"#)
    }
}

private struct SmallGenerator: RandomNumberGenerator {
    var state: UInt64 = 11
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
