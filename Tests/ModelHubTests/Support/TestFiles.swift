import Foundation

enum TestFiles {
    static func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "phibatch-hub-\(UUID().uuidString)"
        ).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }

    static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
}
