import JSONSchema
import TestSupport
import Testing

@testable import TokenConstraints

@Suite struct FormatPatternsTests {
    static let usual: [String: [String]] = [
        "date": ["2024-02-29", "2000-02-29", "1999-12-31"],
        "time": ["08:30:06Z", "08:30:06.283185+01:00", "23:59:60Z"],
        "date-time": ["2026-01-31T12:00:00Z", "1990-12-31t15:59:50.5-08:00"],
        "duration": ["P4DT12H30M5S", "P1Y", "PT0S", "P4W", "P3Y6M4DT12H30M5S"],
        "email": ["joe@example.com", "a.b+c@mail.example.co.uk", "a+b@[127.0.0.1]"],
        "hostname": ["www.example.com", "a1", "xn--4gbwdl.xn--wgbh1c", "a-b--c.de"],
        "ipv4": ["127.0.0.1", "255.255.255.255"],
        "ipv6": [
            "::", "::1", "1::", "fe80::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
            "1::8:7", "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::1.2.3.4",
        ],
        "uri": [
            "http://a.b:80/c?d=e#f", "urn:x:y", "mailto:a@b.c", "http://[::1]/",
            "https://u:p@example.com/a%20b/",
            "file:///etc/hosts", "http://example.com",
        ],
        "uuid": ["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
        "json-pointer": ["", "/a/~0~1/b c", "/é"],
        "relative-json-pointer": ["1", "0#", "1/a", "2-1/x"],
    ]

    @Test(arguments: usual.keys.sorted()) func agreesWithTheValidator(format: String) throws {
        let schema = try TextSamples.schema("{\"format\": \"\(format)\"}")
        let outcome = TextSamples.string(schema)
        #expect(outcome.unmasked.isEmpty)
        let text = try #require(outcome.text)
        for sample in Self.usual[format] ?? [] {
            let contents = JSONSpelling.contents(of: sample)
            #expect(TextSamples.isTaken(schema, TextSamples.quoted(contents)), "\(sample)")
            #expect(TextSamples.takes(text, contents), "\(sample)")
        }
        var draws = FixedRandom(1)
        for most in [5, 40, 100] {
            for _ in 0..<100 {
                let sample = try #require(TextSamples.walk(text, &draws, most: most))
                let isTaken = TextSamples.isTaken(schema, TextSamples.quoted(sample))
                #expect(isTaken, "\(String(decoding: sample, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: ["idn-email", "uri-reference", "iri", "iri-reference", "uri-template"])
    func rareFormatsAreLeftToValidation(format: String) {
        #expect(StringConditions(formats: [format]).build().unmasked == [.format(format)])
    }

    @Test func hostNamesEndInTime() throws {
        let schema = try TextSamples.schema("{\"format\": \"hostname\"}")
        let text = try #require(TextSamples.string(schema).text)
        var draws = FixedRandom(4)
        for _ in 0..<5 {
            let sample = try #require(
                TextSamples.walk(text.contents, &draws, most: 400) { state, count in
                    // Goes on as long as it may.
                    text.fewestBytes(state, count: count).map { $0 == 0 && count < 250 ? 0 : $0 }
                })
            #expect(TextSamples.isTaken(schema, TextSamples.quoted(sample)))
        }
    }
}
