/// What a job reads and writes, and what it asks the model.
extension JobKey {
    package static let files = [
        JobKey(
            "model", "MODEL",
            "a name of \"phibatch models\", org/name on Hugging Face, or a folder (required)",
            letter: "m",
            SettingMember { job, value throws(SettingProblem) in
                job.model = try value.path()
                job.modelName = try? value.string()
            }),
        JobKey(
            "adapter", "FOLDER",
            "a LoRA adapter of the model: a folder as PEFT or MLX writes it (default none)",
            SettingMember { job, value throws(SettingProblem) in job.adapter = try value.path() }),
        JobKey(
            "input", "FILE", "JSONL file of prompts, a list of them, or - for stdin (required)",
            letter: "i", kind: .list,
            SettingMember { job, value throws(SettingProblem) in job.input = try value.paths() }),
        JobKey(
            "output", "FILE", "JSONL file of results, or - for stdout (required)", letter: "o",
            SettingMember { job, value throws(SettingProblem) in job.output = try value.path() }),
    ]

    package static let prompt = [
        JobKey(
            "system", "TEXT", "system message, a template over the line's fields; replaces a line's own",
            .string(\.system), effect: .always()),
        JobKey(
            "prompt", "TEXT", "prompt: a template over the line's fields (default {{ prompt }})",
            .string(\.prompt), effect: .always(unset: ResultText.list([JobSettings.defaultPrompt]))),
        JobKey(
            "chat", "",
            "use the model's chat template (the default), or give the prompt to the model as it is",
            kind: .flag, .flag(\.chat), effect: .always()),
    ]
}
