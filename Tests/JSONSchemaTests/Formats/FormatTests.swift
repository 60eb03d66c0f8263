import JSONSchema
import Testing

@Suite struct FormatTests {
    @Test(
        arguments: [
            (
                "date-time", ["2026-01-31T12:00:00Z", "1998-12-31T23:59:60Z", "1990-12-31t15:59:60.5-08:00"],
                [
                    "2026-02-29T00:00:00Z", "2026-01-31 12:00:00Z", "2026-01-31T12:00:00",
                    "1998-12-31T22:59:60Z", "٢026-01-31T12:00:00Z",
                ]
            ),
            ("date", ["2024-02-29"], ["2023-02-29", "2024-1-1", "2024-13-01", "2024-04-31", "1900-02-29"]),
            (
                "time", ["08:30:06Z", "08:30:06.25+01:00"],
                ["24:00:00Z", "08:30:06", "8:30:06Z", "08:30:06.Z", "08:30:06+24:00"]
            ),
            (
                "duration", ["P4DT12H30M5S", "P1Y", "PT0S", "P4W"],
                ["P", "PT", "P1Y2W", "P1D2H", "P2S", "P1YT", "P2D1Y", "1D", "P1"]
            ),
            (
                "email", ["joe@example.com", "\"joe b\"@example.com", "a+b@[127.0.0.1]", "a@[IPv6:::1]"],
                ["joe", ".a@b", "a..b@c", "a@", "@b", "a b@c", "é@b.c"]
            ),
            ("idn-email", ["실례@실례.테스트"], ["2962"]),
            (
                "hostname", ["www.example.com", "a1", "xn--4gbwdl.xn--wgbh1c"],
                ["-a", "a-", "a_b", "a..b", "", ".", "a.", "ab--c"]
            ),
            (
                "ipv4", ["127.0.0.1"],
                ["127.0.0", "256.1.1.1", "01.1.1.1", "1.1.1.1.1", "1.1.1.", "0x7f.0.0.1"]
            ),
            (
                "ipv6",
                [
                    "::", "::1", "1::", "fe80::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
                    "1::8:7",
                ],
                [
                    ":::", "1:2:3:4:5:6:7", "1::2::3", "12345::", ":1", "1:", "::1.2.3", "1:2:3:4:5:6:7:8:9",
                    "1.2.3.4", "1:2:3:4:5:6:7::8", "fe80::1%a",
                ]
            ),
            (
                "uri",
                ["http://a.b:80/c?d=e#f", "urn:x:y", "mailto:a@b.c", "http://[::1]/", "http://[v1.a:b]:1"],
                [
                    "a/b", "//a", "http:// a", "http://[::1", "http://a:b/", ":a", "http://a/%zz",
                    "http://a/<b>", "http://ü", "http://[v1.a[b]/",
                ]
            ),
            ("uri-reference", ["a/b", "", "#f", "//a/b", "http://a"], ["\\a", "#a#b", "a b"]),
            ("iri", ["http://ƒøø.ßår/?∂éœ"], ["/a", "http://a b"]),
            ("uri-template", ["http://a/{b}{?c*,d:3}"], ["http://a/{b", "}", "{a..b}"]),
            (
                "uuid", ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
                ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380"]
            ),
            ("json-pointer", ["", "/a~0b~1c/", "/"], ["a", "/~2", "/~", "#/a"]),
            ("relative-json-pointer", ["0", "1/a", "0#", "0+1/a"], ["", "-1", "/a", "01", "0##", "0+"]),
            ("regex", ["a(?=b)\\1", "[a-z]+"], ["a(", "\\Z", "[z-a]"]),
        ] as [(String, [String], [String])])
    func format(_ name: String, _ right: [String], _ wrong: [String]) throws {
        let schema = try Schema(["format": .string(name)])
        for text in right { #expect(schema.accepts(.string(text), assertsFormats: true), "\(text)") }
        for text in wrong {
            #expect(!schema.accepts(.string(text), assertsFormats: true), "\(text)")
            #expect(schema.accepts(.string(text)), "\(text): by default a format is an annotation")
        }
        #expect(schema.accepts(1, assertsFormats: true))
    }
}
