import BatchEngine

/// How the machine is used.
extension JobKey {
    package static let engine = [
        JobKey(
            "engine", EngineKind.placeholder,
            "what computes (default cpu; \"phibatch help engines\" says what each does)",
            .word(\.engine.kind)),
        JobKey(
            "workers", "N",
            "requests that advance together, or auto (default auto: 32, more from 9 threads on)",
            .countOrAuto(\.engine.workers, 1...4096)),
        JobKey(
            "threads", "N", "compute threads, or auto (default auto: the cores that this process may use)",
            .countOrAuto(\.engine.threads, 1...1024)),
        JobKey(
            "kv_budget", "SIZE", "memory for KV caches: bytes, 4GB, 25%, or auto (default auto)",
            SettingMember { job, value throws(SettingProblem) in
                job.engine.kvBudget = try value.memoryBudget()
            }),
        JobKey(
            "kv", "TYPE",
            "precision of KV caches: int8, int4 (half the memory, answers are less exact), f16 (twice the memory), or auto, "
                + "which is int8 (default auto)",
            .word(\.engine.kvPrecision)),
        JobKey(
            "long_rope", "auto|short|long",
            "rotary factors of a model that has two sets: auto, which is short or long for each completion by the tokens "
                + "that it may come to, or one of them for all (default auto; \"phibatch help sampling\" says more)",
            .word(\.engine.longRope, unset: .auto), effect: .ifSet),
        JobKey(
            "prefill_chunk", "N",
            "the most prompt tokens in one step, beside the others' decode (default 512)",
            .int(\.engine.prefillChunk, 1...65_536)),
        JobKey(
            "speculate", "N",
            "guess tokens ahead from prompts and the job's answers so far, checked in one step: auto, off, or up to N "
                + "for each answer whatever it costs (default auto)",
            .speculation),
    ]
}
