import Errors
import OperatingSystem

/// Why a model is not to be had: what, of which repository or file, and what would help.
public struct HubError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// The name means no model.
        case badName
        /// The hub, the repository, the revision or a file of it is not there.
        case missing
        /// The token is missing or lacks the right.
        case forbidden
        /// No answer, or none of use, also after some tries.
        case network
        /// The content is not what was promised.
        case damaged
        /// Files on this machine can't be read or written.
        case files
        /// The network is needed and may not be used.
        case offline
    }

    public let kind: Kind
    /// The repository or path at fault.
    public let place: String?
    package let text: Message

    package init(_ kind: Kind, _ place: String, _ message: Message) {
        self.kind = kind
        self.place = place
        text = message
    }

    public var description: String { explanation.text }
}

extension HubError: Fault {
    /// Calls `body`, which writes files.
    /// - Parameter path: place of the error where one can't be written.
    /// - Throws: what `body` throws, but errors of files as `HubError`.
    static func writing<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as Files.Failure {
            throw HubError(.files, path, "can't be written: \(error.reason).")
        } catch let error as FileFault {
            throw HubError(.files, error.path, "\(error.reason).")
        }
    }
}

extension HubError {
    /// Error for an answer of the hub that no second try will change.
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
            self.init(.forbidden, "\(id)", "its owner wants your consent: give it at \(page); \(login).")
        case (_, "RevisionNotFound"):
            self.init(.missing, "\(id)", "there is no revision \(id.revision) of it.")
        case (_, "EntryNotFound"):
            self.init(.missing, "\(id)", "there is no file \(file ?? "") in it.")
        case (401, _) where settings.token != nil && code != "RepoNotFound":
            self.init(
                .forbidden, "\(id)",
                "\(token) is not valid; make a new one, or unset it for a public \(id.kind).")
        case (401, _), (404, _), (_, "RepoNotFound"):
            self.init(
                .missing, "\(id)",
                "there is no such \(id.kind) at \(settings.endpoint), or it is private and \(token) \(settings.token == nil ? "is given (HF_TOKEN)" : "has no access")."
            )
        case (403, _):
            self.init(
                .forbidden, "\(id)", "\(token) lacks the right to it\(said.map { ": \($0)" } ?? "").")
        default:
            self.init(.network, "\(id)", "the hub answers \(status)\(said.map { ": \($0)" } ?? "").")
        }
    }
}
