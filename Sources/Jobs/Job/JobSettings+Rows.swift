extension JobSettings {
    /// Nil where the job reads an input.
    func madeRows(limit: Int) -> MadeRows? {
        // None beyond those that are taken up says anything of these.
        rows.map { MadeRows(selection.reach(in: $0), pick, seed: request.seed ?? 0, limit: limit) }
    }

    /// What is wrong with the lines that the job makes, in words that follow nothing; nil if all is well.
    var rowsProblem: String? {
        guard rows != nil else {
            return pick.isEmpty
                ? nil
                : "pick needs rows in place of an input: a job makes its lines (`rows: 1000` or --rows 1000), or reads them."
        }
        if !input.isEmpty || !inputPatterns.isEmpty {
            return "rows and input are both given; the job makes its lines, or reads them: keep one."
        }
        if inputFormat != FormatChoice(InputFormats.standard) {
            return "input_format says how an input is read, and with rows there is none; leave it out."
        }
        if idField != nil {
            return
                "id names a field of lines that are read, and rows have ids of their own (row-1, row-2, ...); leave it out."
        }
        var names: Set<String> = []
        for pick in pick {
            if !names.insert(pick.name).inserted { return "pick has \(pick.name) more than once." }
        }
        if let step = steps.first(where: { names.contains($0.name) }) {
            return "pick: \(step.name) is the name of a step, too."
        }
        return nil
    }
}
