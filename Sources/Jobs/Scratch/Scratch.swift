import OperatingSystem

/// Where what grows with the lines goes while a run lasts, once memory holds enough of it: files that lose
/// their name as soon as they are open, and so are gone with the process however it ends.
///
/// Where no file can be made, or the disk fills, memory takes what the files would have held, up to 1 GiB in
/// all: some 100 bytes a result.
package struct Scratch: Sendable {
    /// How many elements of each kind stay in memory.
    package static let defaultResidentCount = 1 << 14

    private enum Place: Sendable {
        /// The name that files have for an instant. Not for two users at a time.
        case path(String, any FileSystem)
        case folder(String, any FileSystem)
        case memory
    }

    let residentCount: Int
    private let place: Place
    private let memory: ScratchMemory

    private init(_ place: Place, residentCount: Int, memory: ScratchMemory) {
        precondition(residentCount >= 2 && residentCount & (residentCount - 1) == 0, "a power of two")
        self.place = place
        self.residentCount = residentCount
        self.memory = memory
    }

    /// Files that lie at `path` for an instant.
    /// - Parameter residentCount: a power of two, at least 2.
    init(
        path: String, residentCount: Int = defaultResidentCount, memory: ScratchMemory = .shared,
        in system: any FileSystem
    ) {
        self.init(.path(path, system), residentCount: residentCount, memory: memory)
    }

    /// Files in a folder, which is made at the first need.
    ///
    /// - Parameters:
    ///   - folder: a folder meant for what may be lost, such as the cache; nil for memory alone.
    ///   - residentCount: how many elements are held before a file is made; a power of two, at least 2.
    package static func folder(_ folder: String?, residentCount: Int = defaultResidentCount) -> Scratch {
        self.folder(folder, residentCount: residentCount, memory: .shared, in: POSIXFileSystem())
    }

    static func folder(
        _ folder: String?, residentCount: Int = defaultResidentCount, memory: ScratchMemory = .shared,
        in system: any FileSystem
    ) -> Scratch {
        Scratch(
            folder.map { .folder($0, system) } ?? .memory, residentCount: residentCount, memory: memory)
    }

    func makeFile() -> any ScratchFile {
        switch place {
        case .path(let path, let system):
            return SpillFile(try? Self.namelessFile(path, in: system), memory: memory)
        case .folder(let folder, let system):
            try? Files.makeFolder(folder)
            // One that a kill leaves with its name is empty, and harms nobody.
            let path = "\(folder)/scratch-\(UInt64.random(in: 0 ... .max)).tmp"
            return SpillFile(try? Self.namelessFile(path, in: system), memory: memory)
        case .memory: return SpillFile(nil, memory: memory)
        }
    }

    private static func namelessFile(_ path: String, in system: any FileSystem) throws(StoreError) -> File {
        let file = try File.open(path, .createNew(mode: 0o600), in: system)
        try file.remove()
        return file
    }
}

extension WeightCacheLocation {
    /// For what has no place beside an output: the cache folder, or memory where there is none.
    package var scratch: Scratch { .folder(folder.map { $0 + "/scratch" }) }
}
