/// A fault inside a template, before it is known which file or job key the template came from.
struct TemplateFault: Error {
    var kind: ModelError.Kind
    var line: Int
    var message: String

    /// - Parameter place: What the template is called ("chat_template", "prompt").
    func located(path: String?, place: String) -> ModelError {
        ModelError(kind, path: path, "\(place), line \(line): \(message)")
    }
}

/// Bounds that keep a hostile template from hanging or exhausting the process.
///
/// They lie far above what any real template needs. All are counts, not times, so that the same template
/// with the same input always ends the same way.
struct TemplateLimits: Sendable {
    /// The template's own size in bytes.
    var sourceBytes = 1 << 20
    /// Nesting of tags, brackets, operators and arguments in the source.
    var nesting = 80
    /// Arguments by name of one call, and parameters of one macro: each is compared with all the others.
    var names = 500
    /// Height of one expression's tree: `a + b + c` is 3 high.
    var height = 200
    /// Nesting of evaluation, macro calls included. Like `nesting` and `height` it bounds
    /// the stack, which on some threads is only 512 KB.
    var depth = 250
    /// Units of work: one a node evaluated, 4 an element made, 1 for 16 bytes of text handled or 128 copied.
    var steps = 10_000_000
    /// Size of the rendered text, and of any one string, in bytes.
    var textBytes = 64 << 20
    /// Nesting of lists and objects inside each other.
    var valueDepth = 128
    /// Elements of one `range`; the number Jinja's sandbox allows.
    var rangeLength = 100_000
}
