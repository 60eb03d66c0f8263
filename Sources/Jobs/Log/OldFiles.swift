import FoundationShim
import OperatingSystem

/// Earlier outputs beside an output, and their logs: `OUTPUT.old-1`, `OUTPUT.old-1.log` and so on, the latest with the highest
/// number. A log without an output is that of a run that did not come to its end.
extension OutputPaths {
    func oldName(_ number: Int) -> String { "\(output).old-\(number)" }

    /// The numbers that are taken, by whatever file, ascending.
    private func oldNumbers() throws(UserError) -> [Int] {
        let start = Array(Paths.name(of: output).utf8) + Array(".old-".utf8)
        let names = try explaining(
            .io, at: folder, "the folder can't be listed", try system.names(in: folder))
        let numbers = names.compactMap { name -> Int? in
            guard name.utf8.starts(with: start) else { return nil }
            var digits = String(decoding: name.utf8.dropFirst(start.count), as: UTF8.self)
            if digits.hasSuffix(".log") { digits.removeLast(4) }
            // A higher number isn't one of ours.
            guard let number = Int(digits), 1..<1_000_000_000 ~= number, String(number) == digits else {
                return nil
            }
            return number
        }
        return Set(numbers).sorted()
    }

    /// Gives the output, its log or both second names, with the next number, and leaves them in place. Never replaces a file.
    /// - Returns: the name of the output, or of the log where that alone is kept.
    func keepOld(output keepsOutput: Bool, log keepsLog: Bool) throws -> String {
        let (path, end) = keepsOutput ? (output, "") : (log.path, ".log")
        let numbers = try oldNumbers()
        let there = try system.infoIfPresent(path)
        for number in numbers.reversed() {
            let name = oldName(number)
            // A run that was ended right after it had done this.
            if let there, try isPlain(name + end, sameFileAs: there) { return name + end }
            // The log was kept when the run began again.
            guard keepsOutput, try system.entryIfPresent(name) == nil, try fits(name, path) else { continue }
            try addName(name, for: path)
            return name
        }
        var number = (numbers.last ?? 0) + 1
        while true {
            do {
                try addName(oldName(number) + end, for: path)
                if keepsOutput, keepsLog { try addName(log(of: oldName(number)).path, for: log.path) }
                return oldName(number) + end
            } catch let error as UserError where error.code == EEXIST {
                number += 1
            }
        }
    }

    /// Whether the log of an old output fits a file.
    private func fits(_ name: String, _ path: String) throws -> Bool {
        try (try? OutputLog(log(of: name)))?.fits(path, in: system) ?? false
    }

    private func addName(_ name: String, for path: String) throws {
        do {
            try explaining(.io, at: name, "can't be made (link)", try system.link(path, to: name))
        } catch {
            guard let code = error.code, FileSystem.noSecondName.contains(code) else { throw error }
            try copy(path, to: name)
        }
    }

    /// Copies a file that can't have two names.
    private func copy(_ path: String, to copy: String) throws {
        let original = try File.open(path, .read, in: system)
        let file = try File.draft(copy, mode: try original.info().mode & 0o777, in: system)
        var offset = 0
        while case let bytes = try original.bytes(offset..<offset + 1 << 20), !bytes.isEmpty {
            try file.write(bytes, at: offset)
            offset += bytes.count
        }
        try file.sync()
        file.keep()
    }

    /// Removes those of ours that are older than the last `count`.
    /// - Parameter spared: files that stay, whatever they hold.
    /// - Returns: what went wrong. It is no reason to fail: what matters is in place.
    func removeOld(but count: Int, sparing spared: [String]) -> [String] {
        do {
            let sparedFiles = spared.compactMap { try? system.infoIfPresent($0) }
            func isFree(_ name: String) throws -> Bool {
                guard let info = try system.infoIfPresent(name) else { return true }
                return try isPlain(name, sameFileAs: info) && !sparedFiles.contains(where: info.isSameFile)
            }
            let ours = try oldNumbers().map(oldName).filter { name in
                let log = self.log(of: name)
                guard try isFree(name), try isFree(log.path), try system.entryIfPresent(log.path) != nil
                else {
                    return false
                }
                // Alone it may be that of the output in place, which a run that began again will keep.
                return try system.entryIfPresent(name) != nil
                    ? fits(name, name)
                    : (try? OutputLog(log)) != nil
                        && !(system.exists(output) && fits(name, output))
            }
            for name in ours.dropLast(count) {
                try system.removeIfPresent(name)
                try system.removeIfPresent(log(of: name).path)
            }
            return []
        } catch {
            return ["an earlier file is not removed: \(error)"]
        }
    }

    /// Whether it is a file that we may have made: a symbolic link is nothing of ours.
    private func isPlain(_ name: String, sameFileAs other: FileInfo) throws -> Bool {
        guard let entry = try system.entryIfPresent(name), entry.kind == .regular else { return false }
        return entry.isSameFile(as: other)
    }
}
