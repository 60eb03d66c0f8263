import Foundation
import Testing

@testable import ModelHub

@Suite struct HubSettingsTests {
    private func settings(_ variables: [String: String]) -> HubSettings {
        HubSettings { variables[$0] }
    }

    @Test func defaultsAreHuggingFaces() {
        let settings = settings(["HOME": "/home/a"])
        #expect(settings.cacheFolder == "/home/a/.cache/huggingface/hub")
        #expect(settings.endpoint == "https://huggingface.co")
        #expect(settings.token == nil)
        #expect(!settings.isOffline)
    }

    @Test(arguments: [
        (["HOME": "/h", "XDG_CACHE_HOME": "/x"], "/x/huggingface/hub"),
        (["HOME": "/h", "XDG_CACHE_HOME": "/x", "HF_HOME": "/f"], "/f/hub"),
        (["HOME": "/h", "HF_HOME": "~/models"], "/h/models/hub"),
        (["HOME": "/h", "HF_HOME": "/f", "HUGGINGFACE_HUB_CACHE": "/old"], "/old"),
        (
            ["HOME": "/h", "HUGGINGFACE_HUB_CACHE": "/old", "HF_HUB_CACHE": "$HOME/${SUB}/c", "SUB": "s"],
            "/h/s/c"
        ),
        (["HOME": "/h", "HF_HUB_CACHE": "/a$MISSING/${MISSING}$"], "/a$MISSING/${MISSING}$"),
    ]) func cacheFolder(variables: [String: String], expected: String) {
        #expect(settings(variables).cacheFolder == expected)
    }

    @Test func tokenOfVariableBeforeFile() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.path
        try Data("  hf_file\n".utf8).write(to: URL(filePath: "\(folder)/token"))
        let fromFile = settings(["HF_HOME": folder])
        #expect(fromFile.token == "hf_file")
        #expect(fromFile.tokenOrigin == "\(folder)/token")
        #expect(settings(["HF_HOME": folder, "HF_TOKEN": " hf_a "]).token == "hf_a")
        #expect(settings(["HF_HOME": folder, "HF_TOKEN": "\n"]).token == "hf_file")
        #expect(settings(["HF_TOKEN_PATH": "\(folder)/none", "HF_HOME": folder]).token == nil)
        #expect(settings(["HF_HOME": folder, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"]).token == nil)
    }

    @Test(arguments: ["1": true, "on": true, "Yes": true, "TRUE": true, "0": false, "false": false])
    func offline(value: String, expected: Bool) {
        #expect(settings(["HF_HUB_OFFLINE": value]).isOffline == expected)
    }

    @Test func proxies() {
        func proxy(_ scheme: String, _ host: String, _ variables: [String: String]) -> String? {
            NetworkSettings { variables[$0] }.proxy(scheme: scheme, host: host)
        }
        let both = ["HTTPS_PROXY": "http://p:3128", "http_proxy": "q:80", "HTTP_PROXY": "not:1"]
        #expect(proxy("https", "hub.example", both) == "http://p:3128")
        #expect(proxy("http", "hub.example", both) == "q:80")
        #expect(proxy("http", "hub.example", ["HTTPS_PROXY": "http://p:3128"]) == nil)
        #expect(proxy("http", "hub.example", ["ALL_PROXY": "socks5://p"]) == "socks5://p")
        #expect(
            proxy("https", "hub.example", ["https_proxy": "p:3128", "NO_PROXY": "other.example"]) == "p:3128")
        for rule in ["a, .example", "*", "*.example", "hub.example", "example", "EXAMPLE"] {
            #expect(proxy("https", "hub.example", ["HTTPS_PROXY": "p:3128", "NO_PROXY": rule]) == nil)
        }
        for host in ["127.0.0.1", "localhost", "[::1]"] { #expect(proxy("http", host, both) == nil) }
        #expect(proxy("https", "hub.example", [:]) == nil)
    }

    @Test func certificates() {
        func certificates(_ variables: [String: String]) -> String? {
            NetworkSettings { variables[$0] }.certificates.map { "\($0.variable)=\($0.path)" }
        }
        #expect(certificates([:]) == nil)
        #expect(certificates(["SSL_CERT_DIR": "/d"]) == "SSL_CERT_DIR=/d")
        #expect(certificates(["SSL_CERT_DIR": "/d", "SSL_CERT_FILE": "/f"]) == "SSL_CERT_FILE=/f")
        #expect(
            certificates(["SSL_CERT_FILE": "/f", "CURL_CA_BUNDLE": "/c", "REQUESTS_CA_BUNDLE": "/r"])
                == "REQUESTS_CA_BUNDLE=/r")
    }
}
