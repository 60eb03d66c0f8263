import ArgumentParser
import BatchPipeline
import ModelHub
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

extension HubError: ExitCoding {
    var exitStatus: Int32 {
        switch kind {
        case .badName: 64
        case .files: 74
        case .missing, .forbidden, .network, .damaged, .offline: 69
        }
    }
}

enum Failure {
    /// For the help.
    static let exitCodes = """
        EXIT CODES:
          0    complete: the output is in place
          3    every line was tried, but more failed than max_failures allows
          4    status --check: the output is not as it was written, or not complete
          64   wrong usage                     65   wrong job, or results would go (--prune)
          66   missing input                   69   the model can't be used
          70   an error of phibatch itself     73   the output can't be made
          74   reading or writing failed       75   another run holds the output
          129, 130, 143   stopped by SIGHUP, SIGINT, SIGTERM; run again to go on
        """

    /// Runs a command's work; an error becomes one message on stderr and an exit code.
    static func reported(_ work: () throws -> Void) throws {
        do { try work() } catch let code as ExitCode {
            throw code
        } catch {
            Console.report(error)
            throw ExitCode(status(of: error))
        }
    }

    /// What the parser says of the arguments, as one line.
    static func usage(_ problem: String) -> JobError {
        let words = problem.split(whereSeparator: \.isWhitespace)
        let text = words.joined(separator: " ")
        let isWhole = text.hasSuffix("?") || text.hasSuffix(".")
        return JobError(.usage, isWhole ? text : text + ".")
    }

    static func status(of error: any Error) -> Int32 { (error as? any ExitCoding)?.exitStatus ?? 70 }
}
