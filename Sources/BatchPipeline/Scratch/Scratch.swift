import Foundation

/// Where what grows with the lines goes while a run lasts, once memory holds enough of it: files that lose
/// their name as soon as they are open, and so are gone with the process however it ends.
public struct Scratch: Sendable {
    /// How many elements of each kind stay in memory.
    public static let defaultResidentCount = 1 << 14

    let residentCount: Int
    private let path: String
    private let system: any FileSystem

    /// - Parameters:
    ///   - path: the name that its files have for an instant. Not for two users at a time.
    ///   - residentCount: a power of two, at least 2.
    init(path: String, residentCount: Int = defaultResidentCount, in system: any FileSystem) {
        precondition(residentCount >= 2 && residentCount & (residentCount - 1) == 0, "a power of two")
        self.path = path
        self.residentCount = residentCount
        self.system = system
    }

    /// In the system's folder for temporary files.
    public static func temporary() -> Scratch {
        let name = "phibatch-\(String(UInt64.random(in: 0 ... .max), radix: 36)).tmp"
        return Scratch(
            path: FileManager.default.temporaryDirectory.appendingPathComponent(name).path,
            in: POSIXFileSystem())
    }

    func makeFile() throws(StoreError) -> File {
        let file = try File.open(path, .createEmpty, in: system)
        try system.removeIfPresent(path)
        return file
    }
}
