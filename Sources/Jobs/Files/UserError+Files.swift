import Errors
import FoundationShim
import OperatingSystem

extension UserError {
    /// Whatever goes wrong becomes such an error.
    static func of<T>(_ path: String, _ work: () throws -> T) throws(UserError) -> T {
        do { return try work() } catch {
            throw error as? UserError ?? UserError(.io, at: path, "\(error)")
        }
    }

    /// Something has come to stand where only we put files.
    static func appeared(_ path: String) -> UserError {
        UserError(
            .io, at: path,
            "was put there by another program while the run was going on, and is left as it is. Move it away "
                + "and run the same command again", SystemError(code: EEXIST))
    }

    static func changedUnderneath(_ path: String) -> UserError {
        UserError(
            .io, at: path,
            "was changed or damaged while the run was using it. Run the same command again; only what is "
                + "damaged is computed again.")
    }
}
