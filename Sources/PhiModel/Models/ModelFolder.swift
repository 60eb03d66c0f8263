import OperatingSystem

/// What holds for a model folder as a whole.
package enum ModelFolder {
    /// A downloaded folder must not make us read what lies elsewhere: its symbolic links must lead to
    /// files within it, or into the `blobs` of Hugging Face's cache, in whose layout a model is a folder
    /// `snapshots/REVISION` full of links.
    /// - Throws: `ModelError` naming the link.
    package static func checkLinks(_ folder: String) throws {
        guard let names = try? Files.names(in: folder), let home = Files.canonicalPath(folder) else { return }
        var allowed = [home]
        let above = Paths.folder(of: home)
        if Paths.name(of: above) == "snapshots" {
            allowed.append(Paths.join(Paths.folder(of: above), "blobs"))
        }
        for name in names.sorted() {
            let path = Paths.join(folder, name)
            // One that leads nowhere is as if it were not there.
            guard Files.isLink(path), let target = Files.canonicalPath(path) else { continue }
            guard allowed.contains(where: { Paths.isWithin($0, target) }) else {
                throw ModelError(
                    .unsupported, path: path,
                    "is a symbolic link that leads out of the model folder, to \(target). Put the file itself "
                        + "there, or make the whole folder a link.")
            }
        }
    }
}
