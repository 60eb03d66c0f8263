import ArgumentParser
import BatchPipeline
import PhiModel

/// Errors that know how the program should end.
protocol ExitCoding {
    /// As sysexits has it.
    var exitStatus: Int32 { get }
}

extension JobError: ExitCoding {
    var exitStatus: Int32 {
        switch kind {
        case .usage: return 64
        case .badJob: return 65
        case .missingInput: return 66
        case .cannotWrite: return 73
        case .inputOutput: return 74
        }
    }
}

extension StoreError: ExitCoding {
    var exitStatus: Int32 { exitCode }
}

extension ModelError: ExitCoding {
    var exitStatus: Int32 { 69 }
}

enum Failure {
    /// Runs a command's work; an error becomes one message on stderr and an exit code.
    static func reported(_ work: () throws -> Void) throws {
        do { try work() } catch let code as ExitCode {
            throw code
        } catch {
            Console.writeError("phibatch: \(error)\n")
            throw ExitCode((error as? any ExitCoding)?.exitStatus ?? 70)
        }
    }
}
