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
                ? UserError(.io, at: path, "can't be written", error) : UserError(.io, error)
        }
    }
}

extension UserError {
    /// Makes the error of an answer that no retry will change.
    init(refused response: WebResponse, _ id: RepositoryID, file: String?, _ settings: HubSettings) {
        let status = response.status
        let code = response.first("X-Error-Code") ?? ""
        let said = response.first("X-Error-Message")
        let page = "\(settings.endpoint)/\(id.page)"
        let token: Message = settings.tokenOrigin.map { "the token of \($0)" } ?? "no token"
        switch (status, code) {
        case (_, "GatedRepo"):
            let login: Message =
                settings.token == nil
                ? "then set HF_TOKEN to a token of your account" : "\(token) has no access yet"
            self.init(.forbidden, at: "\(id)", "its owner wants your consent: give it at \(page); \(login).")
        case (_, "RevisionNotFound"):
            self.init(.missing, at: "\(id)", "there is no revision \(id.revision) of it.")
        case (_, "EntryNotFound"):
            self.init(.missing, at: "\(id)", "there is no file \(file ?? "") in it.")
        case (401, _) where settings.token != nil && code != "RepoNotFound":
            self.init(
                .forbidden, at: "\(id)",
                "\(token) is not valid; make a new one, or unset it for a public \(id.kind).")
        case (401, _), (404, _), (_, "RepoNotFound"):
            self.init(
                .missing, at: "\(id)",
                "there is no such \(id.kind) at \(settings.endpoint), or it is private and \(token) \(settings.token == nil ? "is given (HF_TOKEN)" : "has no access")."
            )
        case (403, _):
            self.init(
                .forbidden, at: "\(id)", "\(token) lacks access to it\(said.map { ": \($0)" } ?? "").")
        default:
            self.init(.network, at: "\(id)", "the hub answers \(status)\(said.map { ": \($0)" } ?? "").")
        }
    }
}
