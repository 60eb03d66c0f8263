import ArgumentParser
import BatchPipeline
import ModelHub
import PhiModel
import Serving

/// Exit codes of the program, by kinds of errors.
enum ExitStatus {
    /// As shells report a process killed by SIGPIPE.
    static let closedOutput: Int32 = 141

    /// Codes of sysexits; 70 for our own errors.
    static func of(_ error: any Error) -> Int32 {
        switch (error as? UserError)?.kind {
        case .tooManyFailures: 3
        case .usage: 64
        case .badJob, .mismatch, .wouldLose: 65
        case .missingInput: 66
        case .missing, .malformed, .unsupported, .badRequest, .promptTooLong, .resources: 69
        case .badName, .forbidden, .network, .damaged, .offline: 69
        case .cannotWrite: 73
        case .io: 74
        case .locked: 75
        case .interrupted: 130
        case .closedStream: closedOutput
        case nil: 70
        }
    }
}

enum Failure {
    /// Error of the argument parser, as one line.
    static func usage(_ problem: String) -> UserError {
        let words = problem.split(whereSeparator: \.isWhitespace)
        let text = words.joined(separator: " ")
        let isWhole = text.hasSuffix("?") || text.hasSuffix(".")
        return UserError(.usage, isWhole ? text : text + ".")
    }
}
