import Foundation

/// What holds for a model folder as a whole.
public enum ModelFolder {
    /// A downloaded folder must not make us read what lies elsewhere: its symbolic links must lead to
    /// files within it, or into the `blobs` of Hugging Face's cache, in whose layout a model is a folder
    /// `snapshots/REVISION` full of links.
    /// - Throws: `ModelError` naming the link.
    public static func checkLinks(_ folder: String) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let home = URL(filePath: folder).resolvingSymlinksInPath()
        var allowed = [home.path]
        let parent = home.deletingLastPathComponent()
        if parent.lastPathComponent == "snapshots" {
            allowed.append(parent.deletingLastPathComponent().appendingPathComponent("blobs").path)
        }
        for name in names.sorted() {
            let path = folder + "/" + name
            guard (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil else { continue }
            let target = URL(filePath: path).resolvingSymlinksInPath().path
            guard allowed.contains(where: { target.hasPrefix($0 + "/") }) else {
                throw ModelError(
                    .unsupported, path: path,
                    "is a symbolic link that leads out of the model folder, to \(target). Put the file itself "
                        + "there, or make the whole folder a link.")
            }
        }
    }
}
