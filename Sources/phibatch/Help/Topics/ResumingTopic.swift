extension HelpTopic {
    static let resuming = HelpTopic(
        "resuming", "how a run goes on, and what becomes of earlier results",
        """
        Run the same command again, whatever ended it. Each finished result is in `OUTPUT.journal`, and completions \
        under way are saved every `checkpoint_interval` seconds, so that a long answer goes on in the middle. A run \
        that was interrupted makes the same output as one that was not.

          phibatch status JOB

        says how far a job has come, why it stopped and what to do next, and `phibatch status OUTPUT --check` whether \
        a finished output is as it was written. Both only look.

        Lines are known by id (without one, by number) and by what the job uses of them: the fields that its templates \
        name, the line's own settings, and the fields that are kept. Of an input that was edited only lines are done \
        that are new, or changed in that. So of a second step on the results of a first only those lines are done whose \
        answers changed; that the first ran again, its times and sums, doesn't matter. What earlier versions and runs \
        with other templates (`--if-changed keep`) have made is known as they knew it.

        Results whose lines are gone go from the output, and those whose lines have changed are replaced; the earlier \
        output then stays as `OUTPUT.old-1` or the next number (`keep_old` says how many). If the lines of more than \
        a tenth of all results are gone, the run ends with 65 and replaces nothing; `--prune` lets them go.

        With another model, or with other settings that results depend on, a run ends with 65 and says what differs:

        - --if-changed refuse :: The default.
        - --if-changed keep :: Keep what is done, and do what is left with the new settings. Each result's `run` says \
          which it has; `status` and each run say how many there are of each.
        - --if-changed restart :: Begin again if something has changed, else go on. If that is steps alone, rows take over \
          what the change doesn't concern (`phibatch help steps`).
        - --restart :: Begin again in any case. The earlier journal and output stay aside.

        Results that are whole, but not wanted, are made again with the next seed, and all others stay as they are:

          phibatch redo JOB --where 'text | length < 20'

        `phibatch help redo` says more. The next redo of a row takes the seed after that; `seed` in a result says which it \
        has. `run` goes on with a redo that was interrupted, and `verify` makes its results as it did.

        Where failed lines have a file of their own (`errors`), it is put in place with the output.

        Two runs never write one output: the second ends with 75, or waits with `--wait`, or leaves silently with \
        `--skip-if-running`. With `output: "-"` results stream to stdout in order, and can't be taken up again.
        """)
}
