import Errors
import FoundationShim
import OperatingSystem

/// All tensors of a checkpoint folder, by name, read in place.
///
/// The files are all `model*.safetensors`, and those that `model.safetensors.index.json` names. Which tensor is in which
/// file is in the files: an index that says something else (some uploads carry that of another conversion) changes nothing.
package struct TensorStore: Sendable {
    /// The folder as it was given.
    package let folder: String
    /// The open files, by name within the folder, in order of name.
    package private(set) var files: [(name: String, file: SafetensorsFile)]
    /// Quantization of its layers; nil if none is quantized.
    package var quantization: QuantizationConfiguration?
    /// Adapter whose whole tensors stand for the checkpoint's; nil without one.
    private(set) var adapter: Adapter?
    /// The first file that the index names and that is not there; nil for none.
    let absentFile: String?
    /// Tensors of the files that the model does not read, and that count as if they were not there.
    private let unread: [TensorView]
    private var tensors: [String: TensorView]

    package static let indexName = "model.safetensors.index.json"

    /// - Parameter isUnread: which tensors the model does not read.
    /// - Throws: `UserError`: `missing` without any weights, `malformed` for a damaged file, a tensor
    ///   that occurs twice, or an index that names anything but files of this folder.
    package init(folder: String, without isUnread: (String) -> Bool = { _ in false }) throws {
        self.folder = folder
        var names = try Set(Self.weightFiles(in: folder))
        let indexed = try Self.indexedFiles(in: folder) ?? []
        let absent = indexed.filter { Files.kind(of: Paths.join(folder, $0)) == nil }
        absentFile = absent.first
        names.formUnion(Set(indexed).subtracting(absent))
        guard !names.isEmpty else {
            throw UserError(
                .missing, at: folder, "holds no weights: there is no file model*.safetensors in it.")
        }
        files = try names.sorted().map { ($0, try SafetensorsFile(path: Paths.join(folder, $0))) }
        let all = try Self.byName(files)
        tensors = all.filter { !isUnread($0.key) }
        unread = all.values.filter { isUnread($0.name) }
    }

    /// Opens a model's checkpoint.
    /// - Parameter adapter: the folder of an adapter, whose whole tensors take the place of the model's.
    /// - Throws: as above; `UserError` naming a tensor of the adapter that the model lacks.
    init(_ model: any Architecture, in folder: String, adapter: String? = nil) throws {
        let adapter = try adapter.map { try Adapter(folder: $0) }
        try self.init(folder: folder, without: type(of: model).leavesUnread)
        quantization = model.shape.quantization
        if let adapter { try use(adapter) }
    }

    /// Returns the names of the files that a folder's index names, sorted; nil if it has no index.
    /// - Throws: `UserError` of kind `malformed`, also for a name that leads out of the folder.
    package static func indexedFiles(in folder: String) throws -> [String]? {
        let path = Paths.join(folder, indexName)
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
            guard Paths.fault(inForeign: name) == nil, !name.has("/"), !name.has("\\") else {
                throw UserError(
                    .malformed, at: path,
                    "weight_map names the file \"\(name)\"; only plain names of files in this folder are allowed."
                )
            }
            return String(pathBytes: Array(name.utf8))
        }
        return Set(files).sorted()
    }

    /// Puts an adapter's whole tensors in place. A matrix that was quantized is not any more.
    private mutating func use(_ adapter: Adapter) throws {
        self.adapter = adapter
        let path = adapter.file.file.path
        if let name = adapter.saved.keys.filter({ !contains($0) }).min() {
            throw UserError(
                .unsupported, at: path, "has a tensor for \"\(name)\", which the model lacks.")
        }
        for (name, tensor) in adapter.saved {
            tensors[name] = tensor
            tensors[name]?.name = name
            guard name.hasSuffix(".weight") else { continue }
            for end in ["scales", "biases"] { tensors[name.dropLast(6) + end] = nil }
        }
        if !adapter.saved.isEmpty { files.append(("adapter " + Paths.name(of: path), adapter.file)) }
    }

    /// Notes on these files for a person.
    var notes: [String] {
        var notes: [String] = []
        if let absentFile {
            notes.append(
                "\(folder)/\(Self.indexName) names the file \(absentFile), which is not there. All files "
                    + "model*.safetensors are read.")
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
        case .regular, .link, .other: throw UserError(.missing, at: folder, "is a file; a model is a folder.")
        case .folder: break
        }
        do {
            return try Files.names(in: folder)
                .filter { $0.hasPrefix("model") && $0.hasSuffix(".safetensors") }.sorted()
        } catch {
            throw UserError(.missing, at: folder, "can't be listed: \(error.reason).")
        }
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
