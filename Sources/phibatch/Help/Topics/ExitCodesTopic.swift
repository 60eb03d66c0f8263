extension HelpTopic {
    static let exitCodes = HelpTopic(
        "exit-codes", "what the program ends with",
        """
        The output is in place only if a run ends with 0, so a Makefile or a script can rely on the code alone.

        \(Failure.codes.map { "- \($0) :: \($1)" }.joined(separator: "\n"))

        `phibatch status` tells with its code where a job stands:

        - 0 :: complete, and as its job would make it now
        - 10 :: waiting: no run has begun
        - 11 :: running
        - 12 :: stopped; the same command goes on
        - 13 :: failed: too many lines
        - 14 :: out of date: the input or the settings have changed

        A run of several jobs ends with 0 if all are complete, else with the code of the first that is not. \
        `phibatch verify` ends with 1 if a result is not what the model gives, or the manifest says otherwise, and `phibatch chat` with 3 if a line \
        from a pipe or a file failed.
        """)
}
