import Foundation

extension JobSettings {
    /// Looks whether the files that the job names are there, before anything costly begins. Changes nothing.
    /// - Throws: `JobError` naming the path.
    public func checkFiles() throws {
        _ = try PromptBuilder(self)
        for path in input where path != "-" { try Self.checkInput(path) }
        if output != "-" { try checkOutput() }
    }

    private static func checkInput(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw JobError(.missingInput, at: path, "there is no such input file.")
        }
        guard !isFolder.boolValue else {
            throw JobError(.missingInput, at: path, "is a folder, not an input file.")
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw JobError(.missingInput, at: path, "the input file can't be read: permission denied.")
        }
    }

    private func checkOutput() throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: output, isDirectory: &isFolder), isFolder.boolValue {
            throw JobError(.cannotWrite, at: output, "is a folder; the output must be a file.")
        }
        // The folder may not be there yet; then the first one above that is must be writable.
        var folder = outputFolder
        while !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) {
            let parent = (folder as NSString).deletingLastPathComponent
            if parent == folder { break }
            folder = parent.isEmpty ? "." : parent
        }
        guard isFolder.boolValue else {
            throw JobError(.cannotWrite, at: folder, "is not a folder, so \(output) can't be written.")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw JobError(
                .cannotWrite, at: folder, "the folder is not writable, so \(output) can't be written.")
        }
    }

    /// Makes the output's folder if it is not there.
    /// - Throws: `JobError` of kind `cannotWrite`.
    public func makeOutputFolder() throws {
        guard output != "-" else { return }
        do {
            try FileManager.default.createDirectory(atPath: outputFolder, withIntermediateDirectories: true)
        } catch {
            throw JobError(
                .cannotWrite, at: outputFolder, "the folder can't be made: \(error.localizedDescription)")
        }
    }

    private var outputFolder: String {
        let folder = (output as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }
}
