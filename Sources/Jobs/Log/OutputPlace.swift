import FoundationShim
import OperatingSystem

/// Place of the output. A new output takes it with the owner, permissions and attributes of the earlier one, as far as the
/// system allows.
struct OutputPlace {
    let paths: OutputPaths
    let system: FileSystem
    /// The output at the start; nil if there was none.
    let earlier: FileInfo?
    /// Attributes of it that a new output can't have, as the trial found: a sentence each.
    private(set) var losses: [String] = []

    /// - Parameter output: the path as the user gave it, for messages.
    /// - Throws: `UserError` of kind `cannotCreate` if no file can be put there.
    init(_ paths: OutputPaths, output: String, in system: FileSystem) throws(UserError) {
        self.paths = paths
        self.system = system
        if Paths.namesFolder(output) || Paths.namesFolder(paths.output) {
            throw UserError(.cannotWrite, at: output, "ends in a slash; the output must be a file.")
        }
        earlier = try system.infoIfPresent(paths.output)
        switch earlier?.kind {
        case .regular, nil: break
        case .folder:
            throw UserError(.cannotWrite, at: output, "is a folder; the output must be a file.")
        case .link, .other:
            throw UserError(
                .cannotWrite, at: output, "is not a regular file, so no output can be put there.")
        }
    }

    /// Makes a log or the like, which nobody can read who can't read the output.
    func makeOwnFile(_ path: String) throws(UserError) -> File {
        let file = try File.draft(path, mode: (earlier?.mode ?? 0o666) & 0o666 | 0o600, in: system)
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
    mutating func prepare() throws(UserError) {
        // Some formats begin as anything may. Then the log that is written beside the draft says whose it is.
        // Looked at before anything is made; `load` reads it.
        _ = try RunFile.open(paths.log, .log, .readOwn, in: system)
        let isWritten = try RunFile.open(paths.logDraft, .logDraft, .readOwn, in: system) != nil
        try RunFile.removeLeftover(paths.draft, .outputDraft, isKnown: isWritten, in: system)
        let draft = try makeDraft()
        if let earlier {
            losses = try adopt(earlier, draft)
            if earlier.linkCount > 1 {
                losses.append(
                    "it has \(earlier.linkCount) names (hard links), of which only this one will have the new "
                        + "results")
            }
            try explaining(
                .cannotWrite, at: paths.output,
                "can't be replaced by a new output (its folder may be sticky, or it is immutable or mounted)",
                try system.checkReplaceable(paths.output))
        }
        try draft.remove()
    }

    /// One sentence on what a new output will not have of the one that is there; nil if it will have all.
    var warning: String? {
        losses.isEmpty
            ? nil
            : "\(paths.output): a new output can't have all that this one has: "
                + losses.joined(separator: "; ") + "."
    }

    /// Makes the output's draft, closed to others until it has its owner.
    func makeDraft() throws(UserError) -> File {
        try File.draft(paths.draft, mode: earlier == nil ? 0o666 : 0o600, in: system)
    }

    /// Puts a draft that holds all results in the output's place, on the disk.
    /// - Parameter lastLook: called right before that, while the earlier output is still there.
    func replace(with draft: File, lastLook: () throws -> Void) throws {
        if let earlier {
            let lost = try adopt(earlier, draft).filter { !losses.contains($0) }
            guard lost.isEmpty else {
                throw UserError(
                    .io, at: paths.output,
                    "has changed while the run was going on, and a new output can't have all that it has: "
                        + lost.joined(separator: "; ") + ". Run the same command again to have it replaced.")
            }
        }
        try draft.sync()
        try lastLook()
        try draft.replace(paths.output, earlier)
        try system.syncFolder(paths.folder)
    }

    // MARK: - Parts

    /// Gives a draft what the earlier output has.
    /// - Returns: what it can't have.
    private func adopt(_ earlier: FileInfo, _ draft: File) throws(UserError) -> [String] {
        let attributes = try explaining(
            .io, at: draft.path, "can't be given the attributes of \(paths.output)",
            try system.copyAttributes(from: paths.output, to: draft.descriptor))
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
