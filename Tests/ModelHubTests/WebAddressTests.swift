import Testing

@testable import ModelHub

/// Parts of an address that decide where a token goes.
@Suite struct WebAddressTests {
    @Test(arguments: [
        ("https://Hub.example", "https://hub.example", "hub.example", "https://hub.example"),
        (
            "HTTPS://hub.example:443/a b?c=é#d", "https://hub.example", "hub.example",
            "https://hub.example/a%20b?c=%C3%A9"
        ),
        ("http://[::1]:8080?x", "http://[::1]:8080", "[::1]", "http://[::1]:8080?x"),
        (
            "http://me:p%40w@hub.example:80/@", "http://hub.example", "hub.example",
            "http://me:p%40w@hub.example/@"
        ),
        ("http://hub.example:443", "http://hub.example:443", "hub.example", "http://hub.example:443"),
    ]) func parts(text: String, origin: String, host: String, whole: String) throws {
        let address = try #require(WebAddress(text))
        #expect(address.origin == origin && address.host == host && address.text == whole)
    }

    /// Whatever another program could read as the address of another host.
    @Test(arguments: [
        "", "hub.example", "ftp://hub.example", "http://", "http:///x", "http://a@b@c/", "http://a b/",
        "http://[",
        "http://a]/", "http://hub.example\\@other.example/", "http://a\u{7}b/", "http://me@/x",
    ]) func refused(text: String) {
        #expect(WebAddress(text) == nil)
    }
}
