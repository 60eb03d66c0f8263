@testable import Jobs

extension PromptRecord {
    /// The record of a line that is a request.
    static func parse(_ line: [UInt8]) throws -> PromptRecord {
        let fields = try parseObject(line)
        _ = try JobLine.id(of: fields)
        return try PromptRecord(fields: fields)
    }
}
