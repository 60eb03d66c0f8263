import Errors
import OperatingSystem

// Callers catch it.
@_exported import struct Errors.UserError

extension UserError {
    /// Calls `body`, which writes files.
    /// - Parameter path: place of the error if one can't be written.
    /// - Throws: errors of `body`, with those of files as `UserError`.
    static func writing<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as SystemError {
            throw error.path.isEmpty
                ? UserError(.io, at: path, "can't be written", error)
                : UserError(.io, at: error.path, "", error)
        }
    }
}

extension UserError {
    /// Makes the error of an answer that no retry will change.
    init(refused response: WebResponse, _ id: RepositoryID, file: String?, _ settings: HubSettings) {
        let code = response.first("X-Error-Code") ?? ""
        let said: Message = response.first("X-Error-Message").map { ": \($0)" } ?? ""
        let access: Message =
            settings.tokenOrigin.map { "the token of \($0) has no access" } ?? "no token is given (HF_TOKEN)"
        let fault: (kind: Kind, text: Message) =
            switch (response.status, code) {
            case (_, "GatedRepo"):
                (
                    .forbidden,
                    "its owner wants your consent: give it at \(settings.endpoint)/\(id.page); \(access)."
                )
            case (_, "RevisionNotFound"): (.missing, "there is no revision \(id.revision) of it.")
            case (_, "EntryNotFound"): (.missing, "there is no file \(file ?? "") in it.")
            case (401, _) where settings.token != nil && code != "RepoNotFound":
                (
                    .forbidden,
                    "\(access): it is not valid; make a new one, or unset it for a public \(id.kind)."
                )
            case (401, _), (404, _), (_, "RepoNotFound"):
                (
                    .missing,
                    "there is no such \(id.kind) at \(settings.endpoint), or it is private and \(access)."
                )
            case (403, _): (.forbidden, "\(access)\(said).")
            case (let status, _): (.network, "the hub answers \(status)\(said).")
            }
        self.init(fault.kind, at: "\(id)", fault.text)
    }
}
