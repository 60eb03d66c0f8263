import BatchPipeline
import Faults

/// A file of prompts that conversations are added to.
enum SavedConversations {
    /// All of it is looked at before something is added.
    private static let sizeLimit = 256 << 20

    /// - Parameter line: with its line feed.
    /// - Throws: `JobError`; the file is then as it was.
    static func append(_ line: [UInt8], to path: String) throws {
        do throws(AppendedFile.Fault) {
            let file = try AppendedFile.open(path.cPath)
            guard let content = try file.contents(limit: sizeLimit) else {
                throw .failed("it is larger than \(sizeLimit >> 20) MiB; name another file")
            }
            if let problem = problem(with: content) { throw .failed(problem) }
            try file.append(line)
        } catch {
            let reason =
                switch error {
                case .isLink: "it is a link; name the file itself"
                case .notRegular: "it is no regular file"
                case .failed(let reason): reason
                }
            throw JobError(.cannotWrite, at: path, "nothing is saved: \(reason).")
        }
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
