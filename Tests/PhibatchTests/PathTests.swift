import Foundation
import Testing

/// Outputs and inputs with names that are short, odd, taken or not UTF-8, through the program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct PathTests {
    private func job() throws -> DemoJob { try DemoJob(["{\"id\":\"a\",\"prompt\":\"hi\"}"], []) }

    /// Runs a shell script in the job's folder; `run` is the program with all but an output, `$F` a name
    /// that is not UTF-8.
    private func shell(_ script: String, _ job: DemoJob) throws -> Program.Result {
        let start = """
            program=$1; model=$2; F=$(printf 'a\\377b')
            run() { "$program" run -q --model "$model" --max-tokens 2 "$@"; }

            """
        return try RunningProgram(
            ["-c", start + script, "sh", Program.path ?? "", job.model], folder: job.folder,
            program: "/bin/sh"
        ).end()
    }

    @Test func pathsOfOneCharacter() throws {
        let job = try job()
        defer { job.remove() }
        for output in ["X", "é", "n/o.jsonl"] {
            let result = try shell("run --input in.jsonl --output \(output)", job)
            #expect(result.status == 0, "\(output): \(result.errors)")
            #expect(try job.files.contains(output))
        }
        try Data("model: \(job.model)\ninput: in.jsonl\noutput: o\nmax_tokens: 2\n".utf8)
            .write(to: URL(filePath: job.folder + "/j"))
        #expect(try shell("\"$program\" run -q j", job).status == 0)
        let folder = try shell("run --input in.jsonl --output Y/", job)
        #expect(folder.status == 73 && folder.errors.contains("ends in a slash"), "\(folder.errors)")
    }

    @Test func theInputSurvives() throws {
        let job = try job()
        defer { job.remove() }
        let apart = try shell(
            "cp in.jsonl in.tmp; run --input in.tmp --output in && cmp in.jsonl in.tmp", job)
        #expect(apart.status == 0, "\(apart.errors)")
        for name in ["in.journal", "in.lock", "in.journal.inflight"] {
            let result = try shell(
                "rm -f in; cp in.jsonl \(name); run --input \(name) --output in; code=$?; "
                    + "cmp in.jsonl \(name) && exit $code", job)
            #expect(result.status == 65 && result.errors.contains("Name another output"), "\(result.errors)")
        }
    }

    @Test func stdoutHasAName() throws {
        let job = try job()
        defer { job.remove() }
        let result = try shell("run --input in.jsonl --output /dev/stdout", job)
        #expect(result.status == 73 && result.errors.contains("give - as output"), "\(result.errors)")
        #expect(try job.files == ["in.jsonl"])
    }

    @Test func namesThatAreNotUTF8() throws {
        let job = try job()
        defer { job.remove() }
        let script = """
            set -e
            mkdir "d$F" && cp in.jsonl "d$F/in$F" && ln -s "$model" "m$F" && ln -s "t$F" link
            run --input "d$F/in$F" --output "n$F/out$F" && test -s "n$F/out$F"
            run --input in.jsonl --output link && test -s "t$F" && test -L link
            "$program" run -q --model "m$F" --max-tokens 2 --input in.jsonl --output o
            "$program" status --model "m$F" --max-tokens 2 --input "d$F/in$F" --output "n$F/out$F"
            printf 'model: %s\\ninput: in%s\\noutput: o\\nmax_tokens: 2\\n' "$model" .jsonl > "d$F/job$F"
            cp in.jsonl "d$F/" && "$program" run -q "d$F/job$F" && test -s "d$F/o"
            echo '{"text":"hi"}' > "x$F" && "$program" tokenize --model "m$F" "x$F"
            PHIBATCH_CACHE="c$F" run --input in.jsonl --output p && test -d "c$F"
            LC_ALL=C ls | LC_ALL=C grep -c . >&2
            """
        let result = try shell(script, job)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains(#"output     na\xffb/outa\xffb"#), "\(result.output)")
        // in.jsonl, d, m, link, t, n, o, x, c and p, and the settings of t, o and p: no other names were made.
        #expect(result.errors == "13\n", "\(result.errors)")
        let missing = try shell("run --input \"none$F\" --output o", job)
        #expect(
            missing.status == 66 && missing.errors.contains(#"nonea\xffb: there is no"#), "\(missing.errors)")
    }

    /// Somebody else's output in a sticky folder, which needs a second user.
    @Test func aStickyFolderIsFoundFirst() throws {
        let job = try job()
        defer { job.remove() }
        let script = """
            command -v setpriv >/dev/null && test "$(id -u)" = 0 || exit 99
            chmod 1777 . && run --input in.jsonl --output out || exit 98
            echo '{"id":"b","prompt":"ho"}' >> in.jsonl
            other="setpriv --reuid 65534 --regid 65534 --clear-groups"
            $other test -x "$program" -a -r "$model/config.json" || exit 99
            $other "$program" run -q --model "$model" --input in.jsonl --output out
            """
        let result = try shell(script, job)
        if result.status == 99 {
            print("skipped: needs root, setpriv, and a program that other users can run")
            return
        }
        #expect(result.status == 73 && result.errors.contains("can't be replaced"), "\(result.errors)")
        #expect(try job.files == ["in.jsonl", "out"])
    }
}
