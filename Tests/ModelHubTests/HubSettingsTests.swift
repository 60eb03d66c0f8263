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
        (["HOME": "/h", "HF_HOME": "/f", "HF_HUB_CACHE": "/c"], "/c"),
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
        func network(_ variables: [String: String]) -> NetworkSettings {
            NetworkSettings { variables[$0] }
        }
        let both = network(["HTTPS_PROXY": "http://p:3128", "http_proxy": "q:80", "HTTP_PROXY": "not:1"])
        #expect(both.proxies == ["https": "http://p:3128", "http": "q:80"])
        #expect(network(["ALL_PROXY": "socks5://p"]).proxies["http"] == "socks5://p")
        #expect(network([:]).proxies.isEmpty)
        #expect(network(["NO_PROXY": "a.example"]).direct == "a.example,localhost,127.0.0.1,::1")
        #expect(network(["no_proxy": "*"]).direct == "*")
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
