import Essentials
import Faults
import OperatingSystem

/// A folder of our own within the cache folder, which may hold anything else. Only files that have a name
/// of ours and begin as ours do are ever counted, replaced or removed.
///
/// A file is written under another name and then put in place, never changed; so processes that run
/// at once don't disturb each other, and one that goes on with a replaced file still has it open.
struct CacheFolder {
    let path: String
    /// How each file begins, whatever its version, whole or not.
    let mark: [UInt8]
    /// How their names end: NAME-HASH.ending, HASH in hexadecimal digits.
    let ending: String
    /// Bytes of all files together. Beyond it the ones not used for longest go.
    var limit: Int
    /// Bytes of the disk that are left free: results need them more.
    var reserve = 1_000_000_000

    /// Why the folder can't be used.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    func path(of name: String) -> String { path + "/" + name }

    // MARK: Reading

    /// The folder, to read from; nil if there is none yet.
    /// - Throws: `Fault` if others could have written what is in it.
    func open() throws(Fault) -> OwnFolder? {
        do throws(FileFault) { return try OwnFolder(path) } catch {
            if error.isMissing { return nil }
            throw Fault(description: "\(error.path) \(error.reason)")
        }
    }

    // MARK: Names

    /// Whether a file may be one of ours, by its name.
    func isFinished(_ name: String) -> Bool {
        let end = "." + ending
        guard name.hasSuffix(end), let dash = name.lastIndex(at: "-") else { return false }
        let hash = name[dash...].dropFirst().dropLast(end.count).utf8
        return 1...16 ~= hash.count && hash.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    }

    /// Whether a file may be one that we, or a process that was killed, are just writing.
    func isDraft(_ name: String) -> Bool {
        name.wholeMatch(of: /(.*)\.[0-9]+-[0-9a-f]{1,8}\.draft/).map { isFinished(String($0.1)) } ?? false
    }

    /// The paths of our files.
    private func own(_ isOurs: (String) -> Bool) -> [String] {
        ((try? Files.names(in: path)) ?? []).filter(isOurs).sorted().map { path + "/" + $0 }
            .filter { OwnFile.begins($0, with: mark) }
    }

    /// A file's size, and when it was last used.
    static func size(of path: String) -> (bytes: Int, used: Int)? {
        (try? OpenFile.at(path, followsLinks: false).state()).map { ($0.size, $0.modified) }
    }

    // MARK: Writing

    /// Makes the folder, and looks whether there is room for so many bytes more.
    /// - Throws: `Fault`.
    func prepare(for size: Int) throws(Fault) {
        do throws(Files.Failure) {
            try Files.makeFolder(path, mode: 0o700)
        } catch {
            throw Fault(description: "the folder \(path) can't be made")
        }
        _ = try open()
        removeAbandonedDrafts()
        if let free = DiskSpace.free(at: path), free - size < reserve {
            throw Fault(
                description: "\(path) has \(free / 1_000_000) MB free; \(size / 1_000_000) MB are needed, "
                    + "and \(reserve / 1_000_000) MB are left for others")
        }
    }

    /// Removes what killed processes were writing. Those that were killed before they had written anything left an
    /// empty file, which tells from a process that is just beginning by its age alone.
    private func removeAbandonedDrafts() {
        let now = FileState.now
        for path in ((try? Files.names(in: path)) ?? []).filter(isDraft).map(path(of:)) {
            let state = try? OpenFile.at(path, followsLinks: false).state()
            let isEmpty = state.map { $0.size == 0 && now - $0.modified > 60_000_000_000 } ?? false
            // Or in the middle of the mark.
            let start = mark.prefix(state.flatMap { $0.size > 0 ? $0.size : nil } ?? mark.count)
            guard isEmpty || OwnFile.begins(path, with: Array(start)), Platform.isAbandoned(path) else {
                continue
            }
            OwnFile.remove(path)
        }
    }

    /// Writes a file and puts it in place.
    /// - Throws: `Fault` if there is something at its path that is not ours; `Platform.Failure`; what `write` throws.
    func put(_ name: String, _ write: (Platform.NewFile) throws -> Void) throws {
        let path = path(of: name)
        guard OwnFile.isAbsent(path) || OwnFile.begins(path, with: mark) else {
            throw Fault(description: "\(path) was not made by phibatch; move it away")
        }
        let draft = "\(path).\(OwnFile.processID)-\(String(UInt32.random(in: 0 ... .max), radix: 16)).draft"
        let new = try Platform.NewFile(path: draft, mode: 0o600)
        do {
            // At once, so that what a killed process leaves can be known for ours.
            try mark.withUnsafeBytes { try new.write($0, at: 0) }
            try write(new)
            try Platform.replace(path, with: draft)
        } catch {
            OwnFile.remove(draft)
            throw error
        }
    }

    /// Removes files beyond the limit.
    func removeUnused(but kept: Set<String>) {
        let kept = Set(kept.map(path(of:)))
        let files = own(isFinished).compactMap { path in
            Self.size(of: path).map { (path: path, size: $0.bytes, used: $0.used) }
        }
        var total = files.reduce(0) { $0 + $1.size }
        let unused = files.sorted { $0.used < $1.used }
        for file in unused where total > limit && !kept.contains(file.path) {
            OwnFile.remove(file.path)
            total -= file.size
        }
    }
}
