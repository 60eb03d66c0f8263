import OperatingSystem

/// `model.safetensors.index.json`: which tensor is in which file.
struct CheckpointIndex {
    private let weightMap: [String: String]

    /// - Returns: nil if the folder has no index.
    /// - Throws: `UserError` of kind `malformed`, also for a name that leads out of the folder.
    init?(folder: String) throws {
        let path = Paths.join(folder, TensorStore.indexName)
        guard Files.kind(of: path) != nil else { return nil }
        let members = try JSONFile.object(path, maximumBytes: SafetensorsFile.maximumHeaderLength)
        guard case .object(let entries)? = members["weight_map"] else {
            throw UserError(
                .malformed, at: path, "has no object \"weight_map\" (tensor name to file name).")
        }
        let files = try entries.map { member in
            guard case .string(let name) = member.value else {
                throw UserError(
                    .malformed, at: path,
                    "weight_map holds \(member.value.kindName) where a file name belongs.")
            }
            // A model folder must not make us open files elsewhere.
            guard Paths.fault(inForeign: name) == nil,
                !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
            else {
                throw UserError(
                    .malformed, at: path,
                    "weight_map names the file \"\(name)\"; only plain names of files in this folder are allowed."
                )
            }
            return (member.name, String(pathBytes: Array(name.utf8)))
        }
        weightMap = Dictionary(files) { first, _ in first }
    }

    var fileNames: [String] { Set(weightMap.values).sorted() }

    /// Returns the sign that this index was made for other files; nil if it fits.
    /// - Parameters:
    ///   - present: All weight files of the folder.
    ///   - opened: Those of them that the index names.
    func mismatch(present: [String], opened: [String], tensors: [String: TensorView]) -> String? {
        let names = fileNames
        if let absent = Set(names).subtracting(opened).min() {
            return "it names the file \(absent), which is not there"
        }
        if let unnamed = Set(present).subtracting(names).min() {
            return "it does not name the file \(unnamed)"
        }
        for (name, file) in weightMap.sorted(by: { $0.key < $1.key }) {
            guard let tensor = tensors[name] else {
                return "it names the tensor \"\(name)\", which \(file) lacks"
            }
            guard tensor.file.path.hasSuffix("/" + file) else {
                return "it puts the tensor \"\(name)\" into \(file), but it is elsewhere"
            }
        }
        if let unlisted = tensors.keys.filter({ weightMap[$0] == nil }).min() {
            return "it lacks the tensor \"\(unlisted)\""
        }
        return names.isEmpty ? "it names no file" : nil
    }
}
