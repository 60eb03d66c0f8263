import JSON
import PhiText

/// One of a job's templates, filled from a line.
struct LineTemplate: Sendable {
    /// The job's key.
    let name: String
    private let template: TextTemplate

    /// - Parameter name: the job's key.
    /// - Throws: `JobError` if it is malformed.
    init(_ name: String, _ source: String) throws {
        self.name = name
        do {
            template = try TextTemplate(source, name: "the job's \(name) template")
        } catch let error as ModelError {
            throw JobError(.badJob, "\(error)")
        }
    }

    /// The fields that it uses.
    var variables: Set<String> { template.variables }

    /// Members of fields that it names: the names that lead to each, the field's first.
    var members: Set<[String]> { template.members }

    /// All fields that its text can depend on.
    var names: [String] { template.names }

    func fill(from record: PromptRecord) throws(LineError) -> String { try fill(from: record.fields) }

    /// - Parameter fields: an object.
    func fill(from fields: JSONValue) throws(LineError) -> String {
        guard case .object(let members) = fields else { return "" }
        let fields = Dictionary(
            members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        do {
            return try template.render(fields)
        } catch {
            throw LineError(.templateError, "\(error)")
        }
    }
}
