import FoundationShim
import JSON
import OperatingSystem

/// A client's upload as a form, written to the disk as it arrives.
final class Upload: Sendable {
    static let suffix = ".upload"

    private struct Form {
        var file: File?
        var bytes = 0
        var name = ""
        var purpose: [UInt8] = []
        var fault: (any Error)?
    }

    private let id = "file-" + APIService.newID()
    private let path: String
    private let limit: Int
    private let form = Mutex(Form())

    init(in files: RecordTable, limit: Int) { (path, self.limit) = (files.path(of: id), limit) }

    /// Takes more of a field, on the server's thread.
    /// - Parameters:
    ///   - file: the client's name of the file.
    ///   - isFirst: whether these are the field's first bytes.
    /// - Returns: false if nothing more is wanted.
    func take(_ bytes: UnsafeRawBufferPointer, of field: String, file: String?, isFirst: Bool) -> Bool {
        form.withLock { form in
            do {
                let isThere = field == "purpose" ? !form.purpose.isEmpty : form.bytes > 0
                if isFirst, isThere, ["purpose", "file"].contains(field) {
                    throw HTTPReply.error("The form has more than one `\(field)`.", param: field)
                }
                switch field {
                case "purpose": form.purpose += bytes.prefix(max(0, 64 - form.purpose.count))
                case "file":
                    guard form.bytes + bytes.count <= limit else { throw HTTPReply.tooLarge(limit, "file") }
                    let draft = try form.file ?? File.draft(path + Self.suffix, mode: 0o600)
                    (form.file, form.name) = (draft, file ?? "file")
                    try draft.write(bytes, at: form.bytes)
                    form.bytes += bytes.count
                // The expiry: files stay until they are deleted.
                case _ where field.hasPrefix("expires_after"): break
                default:
                    throw HTTPReply.error(
                        "The form has a field `\(field.prefix(64))`, which is not supported.")
                }
            } catch {
                form.fault = form.fault ?? error
            }
            return form.fault == nil
        }
    }

    /// Keeps the whole file.
    /// - Returns: its record.
    func kept(in files: RecordTable) throws -> JSONObject {
        let form = form.withLock(\.self)
        if let fault = form.fault { throw fault }
        guard let file = form.file else {
            throw HTTPReply.error(
                "The body must be a form (multipart/form-data) with a `file` that is not empty.")
        }
        guard form.purpose.elementsEqual("batch".utf8) else {
            throw HTTPReply.error("`purpose` must be batch; no other one is supported.", param: "purpose")
        }
        try file.move(to: path)
        return try files.keep(id, name: form.name, purpose: "batch", bytes: form.bytes)
    }
}
