/// What answers must be like.
extension JobKey {
    package static let answers = [
        JobKey(
            "schema", "FILE",
            "a JSON Schema that answers follow: a file, or in a job file the schema itself; in place of what a line asks "
                + "for, as the next two",
            SettingMember(
                set: { job, value throws(SettingProblem) in
                    job.schema = try value.schema()
                    if let path = job.schema?.path {
                        job.sources.append(SourceFile(path: path, what: "the schema"))
                    }
                },
                text: { $0.schema?.form.fingerprint }), effect: .ifSet),
        JobKey(
            "response_format", "JSON",
            "as in OpenAI's API: json_object, text, or an object with type: json_schema",
            SettingMember(
                set: { job, value throws(SettingProblem) in
                    job.responseFormat = try value.responseFormat()
                },
                text: { $0.responseFormat?.form.fingerprint }), effect: .ifSet),
        JobKey(
            "regex", "TEXT", "a regular expression (ECMA-262, no lookaround) that matches answers as a whole",
            SettingMember(
                set: { job, value throws(SettingProblem) in job.regex = try value.string() },
                text: { $0.regex.map { ResultText.list([$0]) } }), effect: .ifSet),
        JobKey(
            "indent", "N",
            "lay JSON out with a line for each member and item, N spaces deeper at each level (default: no white space)",
            .int(\.indent, JobSettings.indentRange), effect: .ifSet),
        JobKey(
            "retries", "N",
            "how many times an answer that turns out not to be what is asked for is generated anew, each time with "
                + "another random stream (default \(JobSettings.defaultRetries))",
            .int(\.retries, JobSettings.retriesRange), effect: .ifSet),
    ]
}
