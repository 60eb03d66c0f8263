import Errors
import FoundationShim

/// A failed call of the system, or a file that is not what it has to be: which file, what was done, and the errno.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// Empty where the caller knows it.
    package let path: String
    /// Fault, as the end of a sentence that begins with the path; empty where the caller says it.
    package let what: String
    /// 0 where no call has failed.
    package let code: Int32

    package init(_ path: String = "", _ what: String = "", code: Int32 = 0) {
        (self.path, self.what, self.code) = (path, what, code)
    }

    /// Error in errno.
    package static var last: SystemError { SystemError(code: errno) }

    /// Fault, with the message of the system.
    package var reason: String {
        [what, code == 0 ? "" : String(cString: strerror(code))].filter { !$0.isEmpty }.joined(
            separator: ": ")
    }

    package var description: String { path.isEmpty ? reason : "\(path) \(reason)" }

    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }
    /// The last part of a path is a link, and was not to be one.
    package var isLink: Bool { code == ELOOP }
}

extension UserError {
    /// The same error of another kind.
    package init(_ kind: Kind, _ error: UserError) {
        self.init(kind, at: error.place, error.text, code: error.code)
    }

    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }

    /// Whatever goes wrong becomes such an error.
    package static func of<T>(_ path: String, _ work: () throws -> T) throws(UserError) -> T {
        do { return try work() } catch let error as SystemError {
            throw UserError(.io, at: error.path.isEmpty ? path : error.path, "", error)
        } catch {
            throw error as? UserError ?? UserError(.io, at: path, "\(error)")
        }
    }

    /// - Parameter what: the failed operation, as the end of a sentence that begins with the place.
    package init(_ kind: Kind, at place: String, _ what: String, _ error: SystemError) {
        let room: Message = [ENOSPC, EDQUOT].contains(error.code) ? " Make room there." : ""
        let begin: Message = what.isEmpty ? "" : "\(what): "
        self.init(
            error.code == EPIPE ? .closedStream : kind, at: place, "\(begin)\(error.reason).\(room)",
            code: error.code == 0 ? nil : error.code)
    }
}

/// Calls the system, again while signals interrupt it.
package func retrying<T>(_ call: @autoclosure () throws(SystemError) -> T) throws(SystemError) -> T {
    while true {
        do { return try call() } catch { if error.code != EINTR { throw error } }
    }
}

/// Calls the system, again while signals interrupt it; its failure becomes an error for people.
package func explaining<T>(
    _ kind: UserError.Kind, at place: String, _ what: String,
    _ call: @autoclosure () throws(SystemError) -> T
) throws(UserError) -> T {
    do { return try retrying(try call()) } catch { throw UserError(kind, at: place, what, error) }
}

/// Gives an error another kind.
package func explaining<T>(
    _ kind: UserError.Kind, _ call: @autoclosure () throws(UserError) -> T
) throws(UserError) -> T {
    do { return try call() } catch { throw UserError(kind, error) }
}
