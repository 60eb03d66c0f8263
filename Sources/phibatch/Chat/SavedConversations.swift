import BatchPipeline
import Faults
import OperatingSystem

/// A file of prompts that conversations are added to.
enum SavedConversations {
    /// All of it is looked at before something is added.
    private static let sizeLimit = 256 << 20

    /// - Parameter line: with its line feed.
    /// - Throws: `JobError`; the file is then as it was.
    static func append(_ line: [UInt8], to path: String) throws {
        let problem: String?
        do throws(Files.Failure) { problem = try add(line, to: path) } catch {
            problem = error.isLink ? "it is a link; name the file itself" : error.reason
        }
        if let problem { throw JobError(.cannotWrite, at: path, "nothing is saved: \(problem).") }
    }

    /// - Returns: why nothing was added; nil if it was.
    private static func add(_ line: [UInt8], to path: String) throws(Files.Failure) -> String? {
        guard let file = try AppendedFile(path) else { return "it is no regular file" }
        guard file.size <= sizeLimit else {
            return "it is larger than \(sizeLimit >> 20) MiB; name another file"
        }
        if let problem = problem(with: try file.contents()) { return problem }
        try file.append(line)
        return nil
    }

    /// Why the file is not one to add prompts to; nil if it is.
    private static func problem(with content: [UInt8]) -> String? {
        guard !content.isEmpty else { return nil }
        guard content.last == 0x0A else { return "its last line has no line feed, so it may be half a line" }
        for (index, line) in content.split(separator: 0x0A).enumerated() {
            guard let record = try? PromptRecord.parse(Array(line)),
                record.fields["messages"] != nil || record.fields["prompt"] != nil
            else {
                return "line \(index + 1) is no prompt of a job, with messages or a prompt; name another file"
            }
        }
        return nil
    }
}
