import Foundation
import Testing

@testable import phibatch_dev

@Suite struct PythonSettingsTests {
    @Test func theFileIsMadeOfTheTable() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Python/phibatch/_settings.py")
        #expect(try String(contentsOf: file, encoding: .utf8) == SettingsCommand.module, "make settings")
    }
}
