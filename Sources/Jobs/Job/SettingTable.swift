import BatchEngine
import JSON

/// The table of settings, beside `RequestSetting.all`: a row each.
extension JobKey {
    /// Files of a job.
    package static let files: [JobKey] = [
        JobKey(
            "model", "MODEL",
            "a name of \"phibatch models\", org/name on Hugging Face, a folder, or a GGUF file (required)",
            letter: "m",
            SettingMember(form: .path) { job, value, _ in
                job.model = try value.path()
                job.modelName = try? value.string()
            }),
        JobKey(
            "adapter", "FOLDER",
            "LoRA or DoRA adapter of the model: a folder of PEFT or MLX (default none)",
            in: [.option, .chat, .map], .path(\.adapter)),
        JobKey(
            "input", "FILE",
            "file of prompts (JSONL, or see input_format), a pattern such as data/*.jsonl, a list of them, an address "
                + "(hf://datasets/..., s3://, gs://, az://, https://), or - for stdin (required, unless rows is given)",
            letter: "i",
            SettingMember(form: .paths) { job, value, readsFiles in
                job.inputPatterns = try value.paths()
                // Only now the job's own files are known, which are no input.
                if readsFiles { job.findInputs() }
            }),
        JobKey(
            "input_format", "FORMAT",
            "jsonl, json (an array), openai (its batch files), csv, tsv, parquet, text (a prompt a line) or "
                + "paragraphs; by default (auto) the file's name and lines decide",
            SettingMember(
                form: .text,
                set: { job, value, _ in
                    let format = try value.word(of: InputFormat.all.map { ($0.name, $0) })
                    job.inputFormat = format.withCells(of: job.inputFormat)
                }, words: InputFormat.all.map(\.name))),
        JobKey(
            "delimiter", "auto|,|;|tab||",
            "separator of the cells of a CSV input (auto: found in its first record)",
            .of(
                .text, \.inputFormat.separator, { try $0.separator() },
                words: ["auto"] + DelimitedInput.separators.map(\.word))),
        JobKey(
            "quotes", "double|none",
            "quote at the beginning of a CSV cell: opens it (double, the default), or is text (none)",
            .word(\.inputFormat.hasQuotes, [("double", true), ("none", false)], changesResults: false)),
        JobKey(
            "rows", "N",
            "make so many lines in place of an input, each with the fields of pick (see \"phibatch help rows\")",
            .of(
                .int, \.rows, { try $0.int(in: JobSettings.rowsRange) },
                problem: { $0.flatMap(JobSettings.rowsRange.problem) })),
        JobKey(
            "pick", "MAPPING",
            "fields of the lines that rows makes, each from a list, a range or a file, in a job file",
            in: [],
            SettingMember(form: .mapping) { $0.pick = try $1.picks(reads: $2) }),
        JobKey(
            "output", "FILE",
            "file of results, an address (s3://, gs://, az://) to send it to when complete, or - for stdout (required)",
            letter: "o",
            .of(.path, \.output, { try $0.path() })),
        JobKey(
            "output_format", "FORMAT",
            "jsonl, json (an array), openai (its batch files), csv, tsv or parquet; by default (auto) json, csv, tsv or parquet if "
                + "the output's name ends so, openai if the input's first line is its request, else jsonl",
            SettingMember(
                form: .text,
                set: { job, value, _ in
                    let format: ResultFormat? = try value.word(
                        of: [("auto", nil)] + ResultFormat.all.map { ($0.word, $0) })
                    job.outputFormat = format ?? .jsonl
                    job.outputFormatFollowsInput = format == nil
                }, words: ["auto"] + ResultFormat.all.map(\.word))),
        JobKey(
            "errors", "FILE",
            "file for the results of failed lines, in the output's format; the output then omits them",
            .path(\.errors)),
        JobKey(
            "shard", "I/N|auto",
            "process each Nth line, from the Ith on, into OUTPUT.shard-I-of-N; auto takes both from Slurm's or "
                + "Kubernetes' array variables. \"phibatch merge\" joins the shards",
            SettingMember(form: .text) { job, value, readsFiles in
                if readsFiles { return }
                job.selection = try value.shard()
                job.isShardScheduled = value.text == SettingValue.scheduledShard
            }),
        JobKey(
            "limit", "N",
            "process only the first N lines, as a preview: a run without it resumes from their results",
            in: [.option, .map],
            SettingMember(form: .int) { job, value, readsFiles in
                let count = try value.int(in: 1...Int.max)
                // Only now a shard is known.
                guard readsFiles else { return }
                if job.selection.shard != nil { throw value.fault("can't be combined with shard") }
                job.selection = .init(lines: [count])
            }),
        JobKey(
            "until", "N",
            "in a job with steps: end once N rows are accepted; fewer in the whole input are an "
                + "error (exit code 3). A limit goes before it. \"N per line\": end each line once N of its rows "
                + "are accepted, of at most samples",
            SettingMember(
                form: .amount,
                set: { job, value, readsFiles in
                    let (count, isPerLine) = try value.until()
                    job.untilPerLine = isPerLine ? count : nil
                    if readsFiles, !isPerLine, !job.selection.isFirst { job.until = count }
                },
                problem: { $0.untilProblem }, text: { $0.untilPerLine.map { "\($0) per line" } })),
    ]

    /// Prompts, and what is asked of them.
    package static let prompt: [JobKey] = [
        JobKey(
            "system", "TEXT", "system message, a template over the line's fields; overrides a line's own",
            in: [.option, .step, .chat, .llm], chatHelp: "system message, as it is",
            .text(\.system, unset: "-")),
        JobKey(
            "prompt", "TEXT", "prompt: a template over the line's fields (default {{ prompt }})",
            in: [.option, .step], .text(\.prompt)),
        JobKey(
            "prompt_file", "FILE", "file of the prompt template, in place of prompt", in: [.option, .step],
            SettingMember(form: .path) { job, value, readsFiles in
                let path = try value.path()
                guard readsFiles else { return }
                job.prompt = try value.promptFile()
                job.sources.append(SourceFile(path: path, what: "the prompt file"))
            }),
        JobKey(
            "messages", "ROLE=TEXT",
            "messages before the line's own, such as examples; also templates. If the last is a user's, it is the "
                + "question",
            in: [.option, .step, .map],
            .of(
                .messages, \.messages, { try $0.messages() },
                text: { $0.isEmpty ? nil : JSONWriter.list($0.flatMap { [$0.role, $0.content] }) })),
        JobKey(
            "prefix", "TEXT",
            "beginning of the answer, a template; the model continues it, and text holds the rest",
            in: [.option, .step, .llm], .text(\.prefix)),
        JobKey(
            "chat", "",
            "use the model's chat template (the default), or give the model the bare prompt",
            in: [.option, .llm], .flag(\.chat)),
        JobKey(
            "allow_empty", "",
            "allow prompts of white space only; otherwise such a line fails (empty_prompt)",
            in: [.option, .map], .flag(\.allowsEmpty, unset: false)),
        JobKey(
            "control_tokens", "text|parse",
            "texts such as <|end|> in a line's fields: stay text (the default), or are special tokens as in "
                + "Hugging Face's tokenizers",
            in: [.option, .llm],
            .word(\.parsesControlTokens, [("text", false), ("parse", true)])),
        JobKey(
            "task", "generate|score",
            "generate answers (the default), or score: the line's completion's probability, in place of an "
                + "answer (see \"phibatch help score\")",
            in: [.option, .step, .map], .word(\.task, unset: .generate)),
        JobKey(
            "completion", "TEXT",
            "text to score: a template over the line's fields; {{ FIELD }} alone may be a list of strings (default "
                + "{{ completion }}, or {{ text }} in lines without it)",
            in: [.option, .step, .map], .text(\.completion)),
        JobKey(
            "steps", "LIST",
            "questions asked of each line in order, in a job file (see \"phibatch help steps\")", in: [],
            SettingMember(
                form: .mappings,
                set: { job, value, readsFiles in
                    job.steps = try value.steps(readsFiles: readsFiles)
                    for step in job.steps { job.sources += step.settings.sources }
                },
                text: { $0.steps.isEmpty ? nil : JSONWriter.list($0.steps.map(\.text)) })),
    ]

    /// Content of results, and handling of failures and earlier outputs.
    package static let results: [JobKey] =
        RequestSetting.results.map { JobKey($0) } + [
            JobKey(
                "id", "FIELD", "field that is the line's id (default id)",
                .of(.text, \.idField, { try $0.string() }, text: { $0 })),
            JobKey(
                "line_settings", "NAME",
                "fields of lines that are settings, such as seed, or all. Default: all if the job has no prompt "
                    + "and no messages, else none: then all fields are data, whatever their names",
                .of(
                    .texts, \.lineSettings, { try $0.lineSettings() }, text: { $0.map(JSONWriter.list) },
                    words: ["all"] + LineReading.names)),
            JobKey(
                "keep", "FIELD",
                "fields of the line copied to its result: a list, or all; NEW=FIELD (in a job file NEW: FIELD) "
                    + "renames one",
                .of(
                    .fields, \.keep, { try $0.keptFields() }, problem: { $0.problem() }, text: { $0.text })),
            JobKey(
                "results", ResultDetail.allCases.map(\.rawValue).joined(separator: "|"),
                "members of each result in jsonl and json; "
                    + ResultDetail.allCases.map { "\($0.rawValue): \($0.help)" }.joined(separator: "; ")
                    + "; OUTPUT.log has the rest (default full)",
                .of(
                    .text, \.results, { try $0.word() },
                    // Results with their requests are other results.
                    text: { $0 == .messages ? $0.rawValue : nil },
                    words: ResultDetail.allCases.map(\.rawValue))),
            JobKey(
                "error_lines", "skip|pass",
                "lines with the error of an earlier step: skipped and counted (the default), or passed on as "
                    + "they are",
                .word(\.passesErrorLines, [("skip", false), ("pass", true)], unset: false)),
            JobKey(
                "unsupported", "refuse|ignore",
                "OpenAI's requests with unsupported fields: fail (the default), or are answered without them and "
                    + "counted by name; images, tools and other parts of the question always fail",
                .word(\.ignoresUnsupported, [("refuse", false), ("ignore", true)], unset: false)),
            JobKey(
                "max_failures", "N|P%",
                "most lines that may fail, or their share (default 0); if it is set and certain to be exceeded, the "
                    + "run ends early",
                in: [.option, .map],
                .of(.amount, \.maxFailures, { try $0.failureLimit() })),
            JobKey(
                "keep_old", "N",
                "number of earlier outputs and logs kept as OUTPUT.old-1 and so on, where results are lost "
                    + "(default 3)",
                in: [.option, .map], .int(\.keepOld, 0...1000)),
            JobKey(
                "provenance", "",
                "write OUTPUT.manifest.json beside the finished output: the program, the model's files, the settings and the "
                    + "input that it came from (default: don't)",
                in: [.option, .map], .of(.flag, \.provenance, { try $0.bool() })),
            JobKey(
                "answers", "FOLDER",
                "store of answers, which other jobs and people may share: answers to equal requests are taken "
                    + "from it, and new ones added (default none; see \"phibatch help reuse\")",
                in: [.option, .map], .path(\.answers)),
            JobKey(
                "answers_limit", "SIZE",
                "size limit of the store of answers, such as 2GB; the oldest are removed first (default "
                    + "10GB)",
                in: [.option, .map],
                .of(
                    .amount, \.answersLimit, { try $0.size() },
                    problem: { $0 > 0 ? nil : "must be above 0, but is \($0)" })),
            JobKey(
                "checkpoint_interval", "SECONDS", "how often unfinished completions are saved (default 15)",
                in: [.option, .map],
                .of(
                    .number, \.checkpointInterval, { try $0.number(in: JobSettings.intervals) },
                    problem: { JobSettings.intervals.problem($0) })),
        ]

    /// Use of the machine.
    package static let engine: [JobKey] = [
        JobKey(
            "engine", EngineKind.placeholder,
            "engine that computes (default cpu; see \"phibatch help engines\")",
            in: [.option, .chat, .map], .word(\.engine.kind, changesResults: false)),
        JobKey(
            "workers", "N",
            "requests decoded together, or auto (default auto: 32, more from 9 threads on)",
            in: [.option, .map], .countOrAuto(\.engine.workers, 1...4096)),
        JobKey(
            "threads", "N", "compute threads, or auto (default auto: the cores of this process)",
            in: [.option, .chat, .map], .countOrAuto(\.engine.threads, 1...1024)),
        JobKey(
            "kv_budget", "SIZE", "memory for KV caches: bytes, 4GB, 25%, or auto (default auto)",
            in: [.option, .chat, .map],
            .of(.amount, \.engine.kvBudget, { try $0.memoryBudget() })),
        JobKey(
            "kv", "TYPE",
            "precision of KV caches: int8, int4 (half the memory, less exact), f16 (twice the memory), or auto, "
                + "which is int8 (default auto)",
            in: [.option, .chat, .map],
            .word(
                \.engine.kvPrecision,
                [("auto", nil), ("int8", .int8), ("int4", .int4), ("f16", .float16)], changesResults: false)),
        JobKey(
            "long_rope", "auto|short|long",
            "rotary factors of a model that has two sets: auto (short or long for each completion, by "
                + "its tokens at most), short, or long (default auto; see \"phibatch help sampling\")",
            in: [.option, .map], .word(\.engine.longRope, unset: .auto)),
        JobKey(
            "prefill_chunk", "N",
            "the most prompt tokens in one step, beside the decoding of others (default 512)",
            in: [.option, .map], .int(\.engine.prefillChunk, 1...65_536)),
        JobKey(
            "speculate", "N",
            "draft tokens from prompts and earlier answers, checked in one step: auto, off, or up to N "
                + "for each answer at any cost (default auto)",
            in: [.option, .map],
            .of(
                .amount, \.engine.speculation, { try $0.speculation() },
                problem: {
                    if case .tokens(let count) = $0 { Speculation.range.problem(count) } else { nil }
                },
                words: ["auto", "off"])),
    ]
}
