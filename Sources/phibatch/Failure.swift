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
    /// Exit codes of a run, in the order of the help.
    static let codes: [(code: String, meaning: String)] = [
        ("0", "complete: the output is in place"),
        ("3", "more lines failed than max_failures allows, or fewer rows were accepted than until wants"),
        ("64", "wrong usage"),
        ("65", "wrong job, or results would go (--prune)"),
        ("66", "missing input"),
        ("69", "the model can't be used, or there is no memory or network"),
        ("70", "an error of phibatch itself"),
        ("73", "the output can't be made"),
        ("74", "reading or writing failed"),
        ("75", "another run holds the output"),
        ("129, 130, 143", "stopped by SIGHUP, SIGINT, SIGTERM; run again to resume"),
        ("141", "stdout was closed by its reader, as by head; without a message"),
    ]

    /// Text for the help of commands.
    static let exitCodes =
        "EXIT CODES:\n"
        + codes.map { code, meaning in
            "  " + code + String(repeating: " ", count: max(2, 5 - code.count)) + meaning
        }.joined(separator: "\n")

    /// Error of the argument parser, as one line.
    static func usage(_ problem: String) -> UserError {
        let words = problem.split(whereSeparator: \.isWhitespace)
        let text = words.joined(separator: " ")
        let isWhole = text.hasSuffix("?") || text.hasSuffix(".")
        return UserError(.usage, isWhole ? text : text + ".")
    }
}
