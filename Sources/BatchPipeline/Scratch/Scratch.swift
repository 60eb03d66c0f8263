import Foundations

/// Where what grows with the lines goes while a run lasts, once memory holds enough of it: files that lose
/// their name as soon as they are open, and so are gone with the process however it ends.
public struct Scratch: Sendable {
    /// How many elements of each kind stay in memory.
    public static let defaultResidentCount = 1 << 14

    private enum Place: Sendable {
        /// The name that files have for an instant. Not for two users at a time.
        case path(String, any FileSystem)
        case folder(String)
        case memory
    }

    let residentCount: Int
    private let place: Place

    private init(_ place: Place, residentCount: Int) {
        precondition(residentCount >= 2 && residentCount & (residentCount - 1) == 0, "a power of two")
        self.place = place
        self.residentCount = residentCount
    }

    /// Files that lie at `path` for an instant; without them the work can't go on.
    /// - Parameter residentCount: a power of two, at least 2.
    init(path: String, residentCount: Int = defaultResidentCount, in system: any FileSystem) {
        self.init(.path(path, system), residentCount: residentCount)
    }

    /// Files in a folder, which is made at the first need. Where that can't be, or no file can be made in
    /// it, memory takes what the files would have held: some 50 bytes a result.
    ///
    /// - Parameters:
    ///   - folder: a folder meant for what may be lost, such as the cache; nil for memory alone.
    ///   - residentCount: how many elements are held before a file is made; a power of two, at least 2.
    public static func folder(_ folder: String?, residentCount: Int = defaultResidentCount) -> Scratch {
        Scratch(folder.map { .folder($0) } ?? .memory, residentCount: residentCount)
    }

    func makeFile() throws(StoreError) -> any ScratchFile {
        switch place {
        case .path(let path, let system): return try Self.namelessFile(path, in: system)
        case .folder(let folder):
            try? Files.makeFolder(folder)
            // One that a kill leaves with its name is removed with the weight cache's own drafts.
            let path = "\(folder)/scratch-\(UInt64.random(in: 0 ... .max)).tmp"
            if let file = try? Self.namelessFile(path, in: POSIXFileSystem()) { return file }
            return MemoryFile()
        case .memory: return MemoryFile()
        }
    }

    private static func namelessFile(_ path: String, in system: any FileSystem) throws(StoreError) -> File {
        let file = try File.open(path, .createNew(mode: 0o600), in: system)
        try file.remove()
        return file
    }
}
