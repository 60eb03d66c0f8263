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
struct StoreOptions: Sendable {
    /// By which scheme the run knows its lines.
    var lines: LineScheme
    /// How many results each line has; `index` is the position divided by this.
    var samples: Int
    /// The lines that it takes up.
    var selection: LineSelection
    /// How the output looks.
    var format: any ResultFormat
    /// The file of failed lines; nil where they are in the output.
    var errors: String?
    /// Begin again. An earlier journal is kept under a numbered name; an earlier output stays in place until the new
    /// one is complete, and is then kept too.
    var restart: Bool
    /// What to do if earlier results were made with other settings.
    var ifChanged: SettingsChange
    /// Whether any number of results may go whose lines are no longer in the input.
    var prunes: Bool
    /// How many earlier outputs are kept, and how many earlier journals.
    var keptOutputCount: Int
    /// Paths of files that are never taken for earlier outputs, and removed.
    var inputs: [String]
    /// What of the input lies elsewhere.
    var pins: [PinnedInput]
}
