import Essentials
import OperatingSystem

/// The text of files that may be packed: the one door through which what a run has written is read again.
extension File {
    /// The file itself or, where that is packed, what it unpacks to, in a file without a name that is gone with the process
    /// however it ends. Nil if there is no such file.
    package static func textIfPresent(_ path: String, in system: any FileSystem) throws -> File? {
        guard let file = try openIfPresent(path, .read, in: system) else { return nil }
        guard try file.info().kind == .regular, let packing = Packing(start: try file.bytes(0..<4)) else {
            return file
        }
        do {
            return try file.unpacked(packing)
        } catch let fault as PackingFault {
            throw StoreError(.io, path: path, fault.text(of: packing))
        }
    }

    private func unpacked(_ packing: Packing) throws -> File {
        let text = try Self.scratch(for: path, system)
        text.path = path
        let unpacker = try Unpacker(packing)
        var (writer, position) = (BufferedWriter(text), 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try buffer.withUnsafeMutableBytes { buffer in
                try unpacker.read(into: buffer) { packed in
                    let count = try read(into: packed, at: position)
                    position += count
                    return count
                }
            }
            if count == 0 { break }
            try writer.withBuffer { $0 += buffer[..<count] }
        }
        try writer.flush()
        return text
    }

    /// A file without a name for what is made of another one.
    static func scratch(for path: String, _ system: any FileSystem) throws -> File {
        // A folder that is only read is no reason to fail.
        try (try? nameless(in: Paths.folder(of: path), system))
            ?? nameless(in: FileManager.default.temporaryDirectory.path, system)
    }

    static func nameless(in folder: String, _ system: any FileSystem) throws -> File {
        // One that a kill leaves with its name is empty, and harms nobody.
        let path = "\(folder)/phibatch-scratch-\(UInt64.random(in: 0 ... .max)).tmp"
        let file = try open(path, .createNew(mode: 0o600), in: system)
        try file.remove()
        return file
    }
}
