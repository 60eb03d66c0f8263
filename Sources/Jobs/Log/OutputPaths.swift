import FoundationShim
import OperatingSystem

/// An output and the files beside it. A symbolic link as output is followed once, here, so that the rename
/// replaces the file it points to and not the link.
///
/// None of these names is proof that a file is ours: `RunFile` looks into it. The drafts' names are such as
/// nobody gives by chance; they are fixed, so that what a killed run left is found without listing the folder.
package struct OutputPaths {
    /// The output as the user gave it.
    let given: String
    package let output: String
    let system: FileSystem
    /// Packing of the output, as the name says that the user gave.
    private let packing: Packing?
    /// The output as `examined` found it; nil if there was none. A new one gets its owner, permissions and attributes, as far
    /// as the system allows.
    private(set) var earlier: FileInfo?
    /// Attributes of it that a new output can't have, as the trial found: a sentence each.
    private var losses: [String] = []

    /// Only on a file system without locks.
    var lock: RunFile { RunFile(output + ".lock", .lock, in: system) }
    package var log: RunFile { log(of: output) }
    func log(of output: String) -> RunFile { RunFile(output + ".log", .log, in: system) }

    // Drafts of the output and of these.
    var draft: RunFile { RunFile(output + ".phibatch-new", .outputDraft, in: system) }
    /// First draft of a log, under which it is locked before it gets its name. The longest name of all, so that the others
    /// are not too long either.
    var newLog: RunFile { RunFile(output + ".phibatch-first", .newLog, in: system) }
    var logDraft: RunFile { RunFile(output + ".phibatch-log", .logDraft, in: system) }

    /// All that a run may have beside the output.
    var own: [RunFile] { [lock, newLog, log, logDraft, draft] }

    var folder: String { Paths.folder(of: output) }

    /// Path of the manifest of a complete output.
    package static func manifest(of output: String) -> String { output + ".manifest.json" }

    /// The output of one shard, from 0.
    static func shard(_ index: Int, of count: Int, output: String) -> String {
        "\(output).shard-\(index + 1)-of-\(count)"
    }

    /// Nil where the output is not packed.
    /// - Throws: `UserError` where there is no library for it.
    func makePacker() throws(UserError) -> Packer? {
        guard let packing else { return nil }
        return try explaining(.cannotWrite, at: output, "", try Packer(packing))
    }

    package init(output: String, in system: FileSystem = .real) throws(UserError) {
        (given, self.system) = (output, system)
        self.output = try Self.target(of: output, in: system)
        let name = output.lowercased()
        let end = name.firstRange(of: /\.shard-\d+-of-\d+$/)?.lowerBound ?? name.endIndex
        packing = Packing(name: String(name[..<end]))
    }

    /// Follows links.
    private static func target(of output: String, in system: FileSystem) throws(UserError) -> String {
        var path = output
        for _ in 0...40 {
            // A link of this process's own streams names nothing in a folder.
            guard
                !["/dev/fd/", "/dev/std", "/proc/"].contains(where: { [path] in
                    path.utf8.starts(with: $0.utf8)
                })
            else {
                throw UserError(
                    .cannotWrite, at: output,
                    "is an open stream and not a file. For the standard output, give - as output.")
            }
            let link = path
            guard
                let target = try explaining(
                    .cannotWrite, at: output, "can't be examined", try system.linkTarget(link))
            else { return path }
            path = Paths.join(Paths.folder(of: path), target)
        }
        throw UserError(.cannotWrite, at: output, "is a symbolic link that leads nowhere.")
    }

    /// Returns the same with what is there.
    /// - Throws: `UserError` of kind `cannotWrite` if no output can be put there.
    func examined() throws(UserError) -> OutputPaths {
        if Paths.namesFolder(given) || Paths.namesFolder(output) {
            throw UserError(.cannotWrite, at: given, "ends in a slash; the output must be a file.")
        }
        var paths = self
        paths.earlier = try system.infoIfPresent(output)
        switch paths.earlier?.kind {
        case .regular, nil: return paths
        case .folder: throw UserError(.cannotWrite, at: given, "is a folder; the output must be a file.")
        case .link, .other:
            throw UserError(
                .cannotWrite, at: given, "is not a regular file, so no output can be put there.")
        }
    }
}

/// Putting an output in place.
extension OutputPaths {
    /// Makes a log or the like, which nobody can read who can't read the output.
    func makeOwnFile(_ one: RunFile) throws(UserError) -> File {
        let file = try File.draft(one.path, mode: (earlier?.mode ?? 0o666) & 0o666 | 0o600, in: system)
        try tighten(file)
        return file
    }

    /// Takes rights from a log that the output doesn't give.
    func tighten(_ file: File) throws(UserError) {
        guard let earlier else { return }
        let info = try file.info()
        // Its group may be another than the output's.
        let shared: UInt32 = earlier.mode & 0o004 != 0 || info.group == earlier.group ? 0o666 : 0o606
        let mode = info.mode & (earlier.mode & shared | 0o600)
        if info.mode & 0o777 != mode { try file.setMode(mode) }
    }

    /// Removes what a killed run left, and does all that putting an output in place will take, on a draft that
    /// is removed again. Nothing that is there is changed.
    /// - Throws: `UserError`: `cannotCreate` if the output can't be put in place, `mismatch` if something that
    ///   isn't ours has the name of one of our files.
    func prepared() throws(UserError) -> OutputPaths {
        var paths = try examined()
        // Looked at before anything is made; `load` reads it.
        _ = try log.open(.readOwn)
        // Some formats begin as anything may. Then the log that is written beside the draft says whose it is.
        try draft.removeLeftover(isKnown: logDraft.open(.readOwn) != nil)
        let trial = try paths.makeDraft()
        if let earlier = paths.earlier {
            paths.losses = try adopt(earlier, trial)
            if earlier.linkCount > 1 {
                paths.losses.append(
                    "it has \(earlier.linkCount) names (hard links), of which only this one will have the new "
                        + "results")
            }
            try explaining(
                .cannotWrite, at: output,
                "can't be replaced by a new output (its folder may be sticky, or it is immutable or mounted)",
                try system.checkReplaceable(output))
        }
        try trial.remove()
        return paths
    }

    /// One sentence on what a new output will not have of the one that is there; nil if it will have all.
    var warning: String? {
        losses.isEmpty
            ? nil
            : "\(output): a new output can't have all that this one has: "
                + losses.joined(separator: "; ") + "."
    }

    /// Makes the output's draft, closed to others until it has its owner.
    func makeDraft() throws(UserError) -> File {
        try File.draft(draft.path, mode: earlier == nil ? 0o666 : 0o600, in: system)
    }

    /// Puts a draft that holds all results in the output's place, on the disk.
    /// - Parameter lastLook: called right before that, while the earlier output is still there.
    func replace(with draft: File, lastLook: () throws -> Void) throws {
        if let earlier {
            let lost = try adopt(earlier, draft).filter { !losses.contains($0) }
            guard lost.isEmpty else {
                throw UserError(
                    .io, at: output,
                    "has changed while the run was going on, and a new output can't have all that it has: "
                        + lost.joined(separator: "; ") + ". Run the same command again to have it replaced.")
            }
        }
        try draft.sync()
        try lastLook()
        try draft.replace(output, earlier)
        try system.syncFolder(folder)
    }

    /// Gives a draft what the earlier output has.
    /// - Returns: what it can't have.
    private func adopt(_ earlier: FileInfo, _ draft: File) throws(UserError) -> [String] {
        let attributes = try explaining(
            .io, at: draft.path, "can't be given the attributes of \(output)",
            try system.copyAttributes(from: output, to: draft.descriptor))
        var now = try draft.info()
        func change(_ call: @autoclosure () throws(SystemError) -> Void) throws(UserError) {
            do throws(SystemError) { try retrying(try call()) } catch {
                guard FileSystem.refused.contains(error.code) else {
                    throw UserError(.io, at: draft.path, "can't be given its owner and permissions", error)
                }
            }
            now = try draft.info()
        }
        if now.user != earlier.user || now.group != earlier.group {
            try change(try system.setOwner(draft.descriptor, user: earlier.user, group: earlier.group))
        }
        if now.group != earlier.group {
            // Only root may give a file away, but others may hand it to a group of theirs.
            try change(try system.setOwner(draft.descriptor, user: now.user, group: earlier.group))
        }
        var mode = earlier.mode
        // Another user or group must not get what theirs had.
        if now.user != earlier.user { mode &= 0o3777 }
        if now.group != earlier.group { mode = mode & 0o5707 | (mode & 0o7) << 3 & mode & 0o070 }
        if now.mode != mode { try change(try system.setMode(draft.descriptor, mode)) }
        var lost = attributes.map { "its attribute \($0)" }
        for (what, old, new, radix) in [
            ("user", earlier.user, now.user, 10), ("group", earlier.group, now.group, 10),
            ("permissions", earlier.mode, now.mode, 8),
        ] where old != new {
            lost.append("its \(what) \(String(old, radix: radix)), but \(String(new, radix: radix))")
        }
        return lost
    }
}
