import Errors

/// Why results could not be kept, read back or put in place. `description` is ready for a terminal.
public struct StoreError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// The output, or a file beside it, can't be made there.
        case cannotCreate
        /// A read, write, sync or rename failed.
        case io
        /// Another run holds the output's lock.
        case locked
        /// What is there was made with another model or other settings, or isn't ours.
        case mismatch
        /// The reader of the output stream has closed it.
        case closedStream
        /// Results of an earlier run would be lost, and nobody said that they may.
        case wouldLose
        /// More lines failed than may.
        case tooManyFailures
        /// A wait for the lock was broken off.
        case interrupted
    }

    public let kind: Kind
    public let path: String
    package let text: Message
    public var message: String { text.text }
    /// The errno behind it, where there is one.
    public let code: Int32?

    /// - Parameters:
    ///   - path: shown with escapes, like all values that are interpolated into the message.
    package init(_ kind: Kind, path: String, _ message: Message, code: Int32? = nil) {
        self.kind = kind
        self.path = path
        text = message
        self.code = code
    }

    /// - Parameter message: shown with escapes, line feeds included.
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

    /// Whatever goes wrong becomes such an error.
    static func of<T>(_ path: String, _ work: () throws -> T) throws(StoreError) -> T {
        do {
            return try work()
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.io, path: path, "\(error)")
        }
    }

    /// Something has come to stand where only we put files.
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
