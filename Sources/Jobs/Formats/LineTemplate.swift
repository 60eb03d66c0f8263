import JSON
import PhiText

/// One of a job's templates.
struct LineTemplate: Sendable {
    /// Key in the job.
    let name: String
    private let template: TextTemplate

    /// - Parameter name: key in the job.
    /// - Throws: `UserError` if it is malformed.
    init(_ name: String, _ source: String) throws {
        self.name = name
        do {
            template = try TextTemplate(source, name: "the job's \(name) template")
        } catch let error as UserError {
            throw UserError(.badJob, "\(error)")
        }
    }

    /// Fields that it uses.
    var variables: Set<String> { template.variables }

    /// Members of fields that it uses, as lists of names.
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
