/// A file of settings: the job file, or a template.
package struct SourceFile: Sendable, Equatable {
    package var path: String
    /// As in "the job file".
    package var what: String
}
