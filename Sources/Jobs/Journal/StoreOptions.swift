/// What becomes of earlier results that were made with another model or other settings.
public enum SettingsChange: String, Sendable, CaseIterable {
    /// They stay, and the run does not begin.
    case refuse
    /// The run begins again; they are kept aside. Where steps are all that is other, rows take of them what is the same.
    case restart
    /// They count, and only what is left is done with the new settings.
    case keep
}

/// What a store must know of a job besides what its results depend on.
package struct StoreOptions: Sendable {
    /// By which scheme the run knows its lines.
    var lines = LineScheme()
    /// How many results each line has; `index` is the position divided by this.
    var samples = 1
    /// The lines that it takes up.
    var selection = LineSelection.all
    /// How the output looks.
    var format: any ResultFormat = ResultFormats.standard
    /// The file of failed lines; nil where they are in the output.
    var errors: String?
    /// Begin again. An earlier journal is kept under a numbered name; an earlier output stays in place until the new
    /// one is complete, and is then kept too.
    package var restart = false
    /// What to do if earlier results were made with other settings.
    package var ifChanged = SettingsChange.refuse
    /// Whether any number of results may go whose lines are no longer in the input.
    package var prunes = false
    /// How many earlier outputs are kept, and how many earlier journals.
    var keptOutputCount = 3
    /// Paths of files that are never taken for earlier outputs, and removed.
    var inputs: [String] = []
    /// What of the input lies elsewhere.
    var pins: [PinnedInput] = []
}

extension StoreOptions {
    package static let standard = StoreOptions()

    /// What the job says of it.
    package init(_ job: JobSettings) throws {
        self.init(
            lines: try LineScheme(job), samples: job.sampleCount, selection: job.selection,
            format: job.outputFormat.format, errors: job.errors, keptOutputCount: job.keepOld,
            inputs: job.input.filter { $0 != "-" } + job.pick.compactMap { $0.file?.path },
            pins: job.distant.map(PinnedInput.init))
    }
}
