/// The forms that answers may have, as a job names them.
extension SettingMember {
    static let forms: [String: SettingMember] = [
        "schema": SettingMember(
            set: { job, value throws(SettingProblem) in job.schema = try value.schema() },
            resolve: { job, value throws(SettingProblem) in
                guard let path = try value.schemaPath() else { return }
                job.schema = try value.schema(at: path)
                job.sources.append(SourceFile(path: path, what: "the schema"))
            },
            text: { $0.schema?.form.fingerprint }),
        "response_format": SettingMember(
            set: { job, value throws(SettingProblem) in job.responseFormat = try value.responseFormat() },
            text: { $0.responseFormat?.form.fingerprint }),
        "regex": SettingMember(
            set: { job, value throws(SettingProblem) in job.regex = try value.string() },
            text: { $0.regex.map { ResultText.list([$0]) } }),
        "grammar": SettingMember(
            set: { job, value throws(SettingProblem) in job.grammar = try value.grammar() },
            resolve: { job, value throws(SettingProblem) in
                guard let path = try value.grammarPath() else { return }
                job.grammar = try value.grammar(at: path)
                job.sources.append(SourceFile(path: path, what: "the grammar"))
            },
            text: { $0.grammar?.form.fingerprint }),
    ]
}
