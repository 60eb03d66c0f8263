/// How the machine is used. Results don't depend on it, but for the KV cache's precision.
extension JobKey {
    package static let engine = [
        JobKey("workers", "N", "requests that advance together, or auto (default auto)") {
            job, value throws(SettingProblem) in job.workers = try value.countOrAuto(upTo: 4096)
        },
        JobKey("threads", "N", "compute threads, or auto (default auto: the cores that this process may use)")
        {
            job, value throws(SettingProblem) in job.threads = try value.countOrAuto(upTo: 1024)
        },
        JobKey("kv_budget", "SIZE", "memory for KV caches: bytes, 4GB, 25%, or auto (default auto)") {
            job, value throws(SettingProblem) in job.kvBudget = try value.memoryBudget()
        },
        JobKey(
            "kv", "TYPE",
            "precision of KV caches: int8, f16 (twice the memory), or auto, which is int8 (default auto)",
            // Results depend on it, too; it is in the engine's identity.
            set: { job, value throws(SettingProblem) in job.kvPrecision = try value.word(CachePrecision.self)
            }),
        JobKey(
            "prefill_chunk", "N",
            "the most prompt tokens in one step, beside the others' decode (default 512)"
        ) {
            job, value throws(SettingProblem) in job.prefillChunk = try value.int(in: 1...65_536)
        },
        JobKey("checkpoint_interval", "SECONDS", "how often completions under way are saved (default 15)") {
            job, value throws(SettingProblem) in
            job.checkpointInterval = try value.number("a number of seconds from 0 to 86400") {
                $0 >= 0 && $0 <= 86_400
            }
        },
    ]
}
