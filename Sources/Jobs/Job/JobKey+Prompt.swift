/// Files of a job, and its prompt.
extension JobKey {
    package static let files = [
        JobKey(
            "model", "MODEL",
            "a name of \"phibatch models\", org/name on Hugging Face, a folder, or a GGUF file (required)",
            letter: "m",
            SettingMember(.path) { job, value throws(SettingProblem) in
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
            SettingMember(
                .paths, set: { job, value throws(SettingProblem) in job.inputPatterns = try value.paths() },
                // Only now the job's own files are known, which are no input.
                resolve: { job, _ in job.findInputs() })),
        JobKey(
            "input_format", "FORMAT",
            "jsonl, json (an array), openai (its batch files), csv, tsv, parquet, text (a prompt a line) or "
                + "paragraphs; by default (auto) the file's name and lines decide",
            SettingMember(
                .text,
                set: { job, value throws(SettingProblem) in
                    job.inputFormat = try value.inputFormat()
                }, words: InputFormat.all.map(\.name))),
        JobKey(
            "delimiter", "auto|,|;|tab||",
            "separator of the cells of a CSV input (auto: found in its first record)",
            SettingMember(
                .text,
                set: { job, value throws(SettingProblem) in
                    let word = try value.string()
                    let known = DelimitedInput.separators.first {
                        $0.word == word || word.utf8.elementsEqual([$0.byte])
                    }
                    guard word == "auto" || known != nil else {
                        throw value.wrong(
                            "one of auto, " + DelimitedInput.separators.map(\.word).joined(separator: ", "))
                    }
                    job.cells.separator = known?.byte
                },
                words: ["auto"] + DelimitedInput.separators.map(\.word))),
        JobKey(
            "quotes", "double|none",
            "quote at the beginning of a CSV cell: opens it (double, the default), or is text (none)",
            .word(\.cells.quotes), changesResults: false),
        rows, pick,
        JobKey(
            "output", "FILE",
            "file of results, an address (s3://, gs://, az://) to send it to when complete, or - for stdout (required)",
            letter: "o",
            SettingMember(.path) { job, value throws(SettingProblem) in job.output = try value.path() }),
        JobKey(
            "output_format", "FORMAT",
            "jsonl, json (an array), openai (its batch files), csv, tsv or parquet; by default (auto) json, csv, tsv or parquet if "
                + "the output's name ends so, openai if the input's first line is its request, else jsonl",
            SettingMember(
                .text,
                set: { job, value throws(SettingProblem) in
                    let format = try value.resultFormat()
                    job.outputFormat = OutputFormat(format ?? ResultFormats.standard)
                    job.outputFormatFollowsInput = format == nil
                }, words: ["auto"] + ResultFormats.all.map(\.name))),
        JobKey(
            "errors", "FILE",
            "file for the results of failed lines, in the output's format; the output then omits them",
            .path(\.errors)),
        JobKey(
            "shard", "I/N|auto",
            "process each Nth line, from the Ith on, into OUTPUT.shard-I-of-N; auto takes both from Slurm's or "
                + "Kubernetes' array variables. \"phibatch merge\" joins the shards",
            SettingMember(.text) { job, value throws(SettingProblem) in
                job.selection = try value.shard()
                job.isShardScheduled = value.text == SettingValue.scheduledShard
            }),
        JobKey(
            "limit", "N",
            "process only the first N lines, as a preview: a run without it resumes from their results",
            in: [.option, .map],
            SettingMember(
                .int, set: { _, value throws(SettingProblem) in _ = try value.int(in: 1...Int.max) },
                resolve: { job, value throws(SettingProblem) in
                    if job.selection.shard != nil {
                        throw SettingProblem("can't be combined with shard", line: value.line)
                    }
                    job.selection = .first(try value.int(in: 1...Int.max))
                })),
        JobKey(
            "until", "N",
            "in a job with steps: end once N rows are accepted; fewer in the whole input are an "
                + "error (exit code 3). A limit goes before it. \"N per line\": end each line once N of its rows "
                + "are accepted, of at most samples",
            SettingMember(
                .amount,
                set: { job, value throws(SettingProblem) in
                    let (count, isPerLine) = try value.until()
                    job.untilPerLine = isPerLine ? count : nil
                },
                resolve: { job, value throws(SettingProblem) in
                    let (count, isPerLine) = try value.until()
                    if job.selection.isFirst { return }
                    if !isPerLine { job.until = count }
                },
                problem: { $0.untilProblem }, text: { $0.untilPerLine.map { "\($0) per line" } })),
    ]

    package static let prompt = [
        JobKey(
            "system", "TEXT", "system message, a template over the line's fields; overrides a line's own",
            in: [.option, .step, .chat, .llm], .text(\.system), unset: "-"),
        JobKey(
            "prompt", "TEXT", "prompt: a template over the line's fields (default {{ prompt }})",
            in: [.option, .step], .text(\.prompt)),
        JobKey(
            "prompt_file", "FILE", "file of the prompt template, in place of prompt", in: [.option, .step],
            SettingMember(
                .path, set: { _, value throws(SettingProblem) in _ = try value.path() },
                resolve: { job, value throws(SettingProblem) in
                    job.prompt = try value.promptFile()
                    job.sources.append(SourceFile(path: try value.path(), what: "the prompt file"))
                })),
        JobKey(
            "messages", "ROLE=TEXT",
            "messages before the line's own, such as examples; also templates. If the last is a user's, it is the "
                + "question",
            in: [.option, .step, .map],
            SettingMember(
                .messages, set: { job, value throws(SettingProblem) in job.messages = try value.messages() },
                text: { job in
                    job.messages.isEmpty
                        ? nil : ResultText.list(job.messages.flatMap { [$0.role, $0.content] })
                })),
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
            in: [.option, .llm], .word(\.controlTokens)),
        task, completion, steps,
    ]
}
