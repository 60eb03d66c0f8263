import Errors

/// Reason why results could not be stored, read back or put in place. `description` is ready for a terminal.
public struct StoreError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// The output, or a file beside it, can't be created there.
        case cannotCreate
        /// A read, write, sync or rename failed.
        case io
        /// Another run holds the output's lock.
        case locked
        /// The existing files were made with another model or other settings, or are not ours.
        case mismatch
        /// The reader of the output stream has closed it.
        case closedStream
        /// Results of an earlier run would be lost without permission.
        case wouldLose
        /// More lines failed than allowed.
        case tooManyFailures
        /// Waiting for the lock was interrupted.
        case interrupted
    }

    public let kind: Kind
    public let path: String
    package let text: Message
    public var message: String { text.text }
    /// The errno, if there is one.
    public let code: Int32?

    /// - Parameters:
    ///   - path: shown escaped, like all values interpolated into the message.
    package init(_ kind: Kind, path: String, _ message: Message, code: Int32? = nil) {
        self.kind = kind
        self.path = path
        text = message
        self.code = code
    }

    /// - Parameter message: shown escaped, line feeds included.
    @_disfavoredOverload
    package init(_ kind: Kind, path: String, _ message: String) {
        self.init(kind, path: path, Message(value: message))
    }

    init(_ kind: Kind, path: String, _ what: String, _ error: SystemError) {
        self.kind = error.code == ErrorCode.brokenPipe ? .closedStream : kind
        self.path = path
        code = error.code
        var text: Message = "\(what): \(error.reason)."
        if ErrorCode.outOfRoom.contains(error.code) {
            text += " Make room there."
        }
        self.text = text
    }

    /// Converts any error to a `StoreError`.
    static func of<T>(_ path: String, _ work: () throws -> T) throws(StoreError) -> T {
        do {
            return try work()
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.io, path: path, "\(error)")
        }
    }

    /// Error for a foreign file in the place of one of ours.
    static func appeared(_ path: String, _ error: SystemError) -> StoreError {
        StoreError(
            .io, path: path,
            "was put there by another program while the run was going on, and is left as it is. Move it away "
                + "and run the same command again", error)
    }

    static func changedUnderneath(_ path: String) -> StoreError {
        StoreError(
            .io, path: path,
            "was changed or damaged while the run was using it. Run the same command again; only what is "
                + "damaged is done anew.")
    }

    public var description: String { explanation.text }
}

extension StoreError: Fault {
    package var place: String? { path }
}
