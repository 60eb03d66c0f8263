import BatchEngine

/// Use of the machine.
extension JobKey {
    package static let engine = [
        JobKey(
            "engine", EngineKind.placeholder,
            "engine that computes (default cpu; see \"phibatch help engines\")",
            in: [.option, .chat, .map], .word(\.engine.kind), changesResults: false),
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
            SettingMember(.amount) { job, value throws(SettingProblem) in
                job.engine.kvBudget = try value.memoryBudget()
            }),
        JobKey(
            "kv", "TYPE",
            "precision of KV caches: int8, int4 (half the memory, less exact), f16 (twice the memory), or auto, "
                + "which is int8 (default auto)",
            in: [.option, .chat, .map], .word(\.engine.kvPrecision), changesResults: false),
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
            in: [.option, .map], .speculation),
    ]
}
