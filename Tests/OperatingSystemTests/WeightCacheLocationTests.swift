import OperatingSystem
import Testing

/// Where weights are kept, as variables say it.
@Suite struct WeightCacheLocationTests {
    @Test(arguments: [
        (["PHIBATCH_CACHE": "off", "HOME": "/h"], WeightCacheLocation.off),
        (["PHIBATCH_CACHE": "here", "HOME": "/h"], .folder("here")),
        (["PHIBATCH_CACHE": "", "XDG_CACHE_HOME": "/x", "HOME": "/h"], .folder("/x/phibatch")),
    ])
    func whereItIs(environment: [String: String], expected: WeightCacheLocation) {
        #expect(WeightCacheLocation.standard(environment: environment) == expected)
    }

    @Test func whereItIsByHome() {
        let home = WeightCacheLocation.standard(environment: ["XDG_CACHE_HOME": "relative", "HOME": "/h"])
        guard case .folder(let folder) = home, case .unknown = WeightCacheLocation.standard(environment: [:])
        else {
            Issue.record("HOME names a folder, and without it none is known")
            return
        }
        #expect(folder.hasPrefix("/h/") && folder.hasSuffix("/phibatch"))
    }
}
