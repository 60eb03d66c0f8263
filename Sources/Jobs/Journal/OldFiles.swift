/// What stays of earlier runs beside a file: `FILE.old-1`, `FILE.old-2` and so on, the latest with the highest
/// number.
struct OldFiles {
    let path: String
    let folder: String
    /// Files that are never removed, whatever they hold.
    let spared: [String]
    let system: any FileSystem
    /// Whether an open file holds what such a file would.
    let isOurs: (File) throws -> Bool

    /// Beyond, a number isn't one of ours.
    private static let highest = 1_000_000_000

    func name(_ number: Int) -> String { "\(path).old-\(number)" }

    /// The numbers that are taken, by whatever file, ascending.
    func numbers() throws(UserError) -> [Int] {
        let start =
            Array(path.utf8.split(separator: UInt8(ascii: "/")).last ?? path[...].utf8) + Array(".old-".utf8)
        var numbers: [Int] = []
        for name in try system.listing(of: folder) where name.utf8.starts(with: start) {
            let digits = String(decoding: name.utf8.dropFirst(start.count), as: UTF8.self)
            guard let number = Int(digits), number > 0, number < Self.highest, String(number) == digits else {
                continue
            }
            numbers.append(number)
        }
        return numbers.sorted()
    }

    /// Gives the file a second name, the next one in the row, and leaves it in place. Never replaces a file.
    /// - Returns: that name.
    func keep() throws -> String {
        let numbers = try numbers()
        if let there = try system.infoIfPresent(path) {
            // A run that was ended right after it had done this.
            for number in numbers.reversed() where try isPlain(name(number), sameFileAs: there) {
                return name(number)
            }
        }
        var number = (numbers.last ?? 0) + 1
        while true {
            do {
                if try !system.addName(name(number), for: path) { try copy(to: name(number)) }
                return name(number)
            } catch let error as UserError where error.code == ErrorCode.exists {
                number += 1
            }
        }
    }

    /// Where a file can't have two names.
    private func copy(to copy: String) throws {
        let original = try File.open(path, .read, in: system)
        let file = try File.open(
            copy, .createNew(mode: try original.info().mode & 0o777), in: system)
        do {
            var writer = BufferedWriter(file)
            try writer.append(original)
            try writer.flush()
            try file.sync()
        } catch {
            try? system.removeIfPresent(copy)
            throw error
        }
    }

    /// Removes those of ours that are older than the last `count`.
    /// - Returns: what went wrong. It is no reason to fail: what matters is in place.
    func removeOldest(but count: Int) -> [String] {
        var problems: [String] = []
        do {
            let sparedFiles = spared.compactMap { try? system.infoIfPresent($0) }
            let ours = try numbers().map(name).filter { name in
                guard let info = try system.infoIfPresent(name), try isPlain(name, sameFileAs: info),
                    !sparedFiles.contains(where: info.isSameFile)
                else { return false }
                return try File.textIfPresent(name, in: system).map(isOurs) ?? false
            }
            for name in ours.dropLast(count) {
                try system.removeIfPresent(name)
                try RunFile.open(OutputPaths.log(of: name), .log, .readOwn, in: system)?.remove()
            }
        } catch {
            problems.append("an earlier file is not removed: \(error)")
        }
        return problems
    }

    /// A symbolic link is nothing that we would have made.
    private func isPlain(_ name: String, sameFileAs other: FileInfo) throws -> Bool {
        guard try system.attempt("cannot be examined", name, try system.linkTarget(name)) == nil else {
            return false
        }
        guard let info = try system.infoIfPresent(name), info.kind == .regular else { return false }
        return info.isSameFile(as: other)
    }
}

extension FileSystem {
    fileprivate func listing(of folder: String) throws(UserError) -> [String] {
        try attempt("the folder cannot be listed", folder, try names(in: folder))
    }

    /// - Returns: false where the file can't have a second name.
    fileprivate func addName(_ name: String, for path: String) throws(UserError) -> Bool {
        do {
            try attempt("cannot be made (link)", name, try link(path, to: name))
            return true
        } catch {
            if let code = error.code, ErrorCode.noSecondName.contains(code) { return false }
            throw error
        }
    }
}
