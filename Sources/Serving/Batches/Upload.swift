import FoundationShim
import OperatingSystem

/// A client's upload as a form, written to the disk as it arrives.
final class Upload: Sendable {
    static let suffix = ".upload"

    struct Content: Sendable {
        var file: AtomicFile
        var bytes = 0
        var name: String
    }

    private struct Saved {
        var content: Content?
        var purpose: [UInt8] = []
        var fault: APIError?
    }

    let id = "file-" + APIService.newID()
    private let folder: String
    private let limit: Int
    private let state = Mutex(Saved())

    /// - Parameter folder: folder of files.
    init(in folder: String, limit: Int) {
        (self.folder, self.limit) = (folder, limit)
    }

    /// Takes more of a field, on the server's thread.
    /// - Parameters:
    ///   - file: the client's name of the file.
    ///   - isFirst: whether these are the field's first bytes.
    /// - Returns: false if nothing more is wanted.
    func take(_ bytes: UnsafeRawBufferPointer, of field: String, file: String?, isFirst: Bool) -> Bool {
        state.withLock { state in
            do throws(APIError) {
                let isThere =
                    field == "purpose" ? !state.purpose.isEmpty : state.content.map { $0.bytes > 0 } ?? false
                if isFirst, isThere, ["purpose", "file"].contains(field) {
                    throw APIError("The form has more than one `\(field)`.", param: field)
                }
                switch field {
                case "purpose": state.purpose += bytes.prefix(max(0, 64 - state.purpose.count))
                case "file": try write(bytes, name: file ?? "file", &state)
                // The expiry: files stay until they are deleted.
                case _ where field.hasPrefix("expires_after"): break
                default: throw APIError("The form has a field `\(field.prefix(64))`, which is not supported.")
                }
            } catch {
                state.fault = state.fault ?? error
            }
            return state.fault == nil
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, name: String, _ state: inout Saved) throws(APIError) {
        do throws(SystemError) {
            if state.content == nil {
                let path = Paths.join(folder, id)
                let file = try AtomicFile(path, draft: path + Self.suffix, mode: 0o600)
                state.content = Content(file: file, name: name)
            }
            guard var content = state.content else { return }
            guard content.bytes + bytes.count <= limit else {
                state.fault = APIError(
                    "The file is longer than \(limit) bytes.", status: 413, code: "too_large")
                return
            }
            try content.file.write(bytes, at: content.bytes)
            content.bytes += bytes.count
            state.content = content
        } catch {
            throw APIError("The file can't be kept: \(error.reason).", status: 500, code: "storage")
        }
    }

    /// Returns the whole file, owned by the caller.
    func content() throws(APIError) -> Content {
        let (content, purpose, fault) = state.withLock {
            ($0.content, String(decoding: $0.purpose, as: UTF8.self), $0.fault)
        }
        if let fault { throw fault }
        guard let content else {
            throw APIError("The body must be a form (multipart/form-data) with a `file` that is not empty.")
        }
        guard purpose == "batch" else {
            throw APIError("`purpose` must be batch; no other one is supported.", param: "purpose")
        }
        return content
    }
}
