import Errors
import OperatingSystem

/// All tensors of a checkpoint folder, by name, read in place.
///
/// The files are those that `model.safetensors.index.json` names; or, if there is no index or it does not
/// fit the files (some uploads carry that of another conversion), all `model*.safetensors`.
package struct TensorStore: Sendable {
    /// The folder as it was given.
    package let folder: String
    /// The open files, by name within the folder, in order of name.
    package private(set) var files: [(name: String, file: SafetensorsFile)]
    /// The folder of an adapter some of whose tensors stand for the checkpoint's; nil without one.
    private(set) var adapter: String?
    /// Why an index that is there was not used; nil if it was, or there is none. For the log.
    package let staleIndex: String?
    /// Tensors of the files that the model does not read, and that count as if they were not there.
    private let unread: [TensorView]
    private var tensors: [String: TensorView]

    static let indexName = "model.safetensors.index.json"

    /// - Parameter isUnread: which tensors the model does not read.
    /// - Throws: `UserError`: `missing` without any weights, `malformed` for a damaged file, a tensor
    ///   that occurs twice, or an index that names anything but files of this folder.
    package init(folder: String, without isUnread: (String) -> Bool = { _ in false }) throws {
        self.folder = folder
        let present = try Self.weightFiles(in: folder)
        var (indexed, stale) = ([(name: String, file: SafetensorsFile)]?.none, String?.none)
        if let index = try CheckpointIndex(folder: folder) {
            let names = index.fileNames.filter { Files.kind(of: Paths.join(folder, $0)) != nil }
            let files = try Self.open(names, in: folder)
            stale = index.mismatch(present: present, opened: names, tensors: try Self.byName(files))
            if stale == nil { indexed = files }
        }
        guard indexed != nil || !present.isEmpty else {
            throw UserError(
                .missing, at: folder, "holds no weights: there is no file model*.safetensors in it.")
        }
        files = try indexed ?? Self.open(present, in: folder)
        staleIndex = stale
        let all = try Self.byName(files)
        tensors = all.filter { !isUnread($0.key) }
        unread = all.values.filter { isUnread($0.name) }
    }

    /// The same with some tensors of an adapter's file in the place of those with these names. A matrix that was
    /// quantized is not any more.
    func replacing(_ others: [String: TensorView], by file: SafetensorsFile, of adapter: String)
        -> TensorStore
    {
        var store = self
        for (name, tensor) in others {
            store.tensors[name] = TensorView(
                name: name, type: tensor.type, shape: tensor.shape, range: tensor.range, file: tensor.file)
            guard name.hasSuffix(".weight") else { continue }
            for end in ["scales", "biases"] { store.tensors[name.dropLast(6) + end] = nil }
        }
        store.files.append((name: "adapter " + Paths.name(of: file.file.path), file: file))
        store.adapter = adapter
        return store
    }

    /// Notes on these files for a person.
    var notes: [String] {
        var notes: [String] = []
        if let staleIndex {
            notes.append(
                "\(folder)/\(Self.indexName) does not fit the weight files and is not used: \(staleIndex). All "
                    + "files model*.safetensors are read.")
        }
        if !unread.isEmpty {
            let size = byteText(unread.reduce(0) { $0 + $1.range.count })
            notes.append(
                "\(folder): \(unread.count) tensors (\(size)) are for images or sounds and are not read; the model "
                    + "is used for text.")
        }
        return notes
    }

    /// - Throws: `UserError` of kind `missing`.
    package func tensor(_ name: String) throws -> TensorView {
        guard let tensor = tensors[name] else {
            throw UserError(.missing, at: folder, "the checkpoint has no tensor \"\(name)\".")
        }
        return tensor
    }

    package func contains(_ name: String) -> Bool { tensors[name] != nil }

    /// Names of all tensors, sorted.
    package var names: [String] { tensors.keys.sorted() }

    /// Bytes of all tensors together.
    package var byteCount: Int { tensors.values.reduce(0) { $0 + $1.range.count } }

    private static func weightFiles(in folder: String) throws -> [String] {
        switch Files.kind(of: folder) {
        case nil: throw UserError(.missing, at: folder, "there is no such model folder.")
        case .regular, .other: throw UserError(.missing, at: folder, "is a file; a model is a folder.")
        case .folder: break
        }
        do {
            return try Files.names(in: folder)
                .filter { $0.hasPrefix("model") && $0.hasSuffix(".safetensors") }.sorted()
        } catch {
            throw UserError(.missing, at: folder, "can't be listed: \(error.reason).")
        }
    }

    private static func open(
        _ names: [String], in folder: String
    ) throws -> [(name: String, file: SafetensorsFile)] {
        try names.map { ($0, try SafetensorsFile(path: Paths.join(folder, $0))) }
    }

    private static func byName(_ files: [(name: String, file: SafetensorsFile)]) throws -> [String:
        TensorView]
    {
        var tensors: [String: TensorView] = [:]
        for (name, file) in files {
            for tensor in file.tensors {
                if let other = tensors.updateValue(tensor, forKey: tensor.name) {
                    throw UserError(
                        .malformed, at: file.file.path,
                        "tensor \"\(tensor.name)\" is also in \(other.file.path); "
                            + "keep only one of the two files (\(name) or the other) in the folder.")
                }
            }
        }
        return tensors
    }
}
