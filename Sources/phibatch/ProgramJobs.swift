import ArgumentParser
import BatchPipeline
import Errors
import FoundationShim
import Logging
import ModelHub
import OperatingSystem

/// Jobs of one call of the program, run to their ends. Jobs that can share a model run together, the others one after
/// the other. An error of one job doesn't affect the others.
final class ProgramJobs {
    private final class Member {
        let name: Message
        var job: BatchJob
        let console: Console
        /// Exit code, once it has ended.
        var status: Int32?
        var statistics = RunStatistics()
        /// Whether its input is no longer followed.
        var isOver = false
        /// Log of its present round; nil if its results go to a stream.
        var log: LogStore?
        /// Outcome of its last round.
        var outcome: RunOutcome?

        init(_ name: Message, _ job: BatchJob, _ console: Console) {
            (self.name, self.job, self.console) = (name, job, console)
            let console = console
            self.job.log = Logger(label: "phibatch") { _ in ConsoleLogHandler(console: console) }
        }
    }

    private let console: Console
    private let command: RunCommand
    private let signals: SignalWatch
    private let progress: ProgressReport
    private var members: [Member] = []
    /// Each model with all jobs that share it.
    private var models: [(members: [Member], loader: ModelLoader)] = []
    /// Exit codes of jobs that could not begin.
    private var refusals: [Int32] = []

    init(_ command: RunCommand, console: Console, signals: SignalWatch, progress: ProgressReport) {
        (self.command, self.console) = (command, console)
        (self.signals, self.progress) = (signals, progress)
    }

    /// - Throws: `UserError` if an earlier job uses the same stream.
    static func checkStreams(_ job: JobSettings, besides others: [JobSettings]) throws {
        if job.output == "-", others.contains(where: { $0.output == "-" }) {
            throw UserError(.badJob, "output is -, as of a job before it; only one can have stdout.")
        }
        if job.input.contains("-"), others.contains(where: { $0.input.contains("-") }) {
            throw UserError(.badJob, "input is -, as of a job before it; only one can have stdin.")
        }
    }

    /// - Parameter isOneOfSeveral: whether its lines name the job.
    func add(_ job: BatchJob, name: Message, isOneOfSeveral: Bool) {
        let console = isOneOfSeveral ? Console(console, label: name) : console
        let member = Member(name, job, console)
        members.append(member)
        if let group = models.firstIndex(where: { $0.members[0].job.sharesModel(with: job) }) {
            models[group].members.append(member)
        } else {
            models.append(([member], member.job.makeModelLoader()))
        }
    }

    /// Records a job that can't begin.
    func refuse(_ error: any Error, name: Message) {
        Console(console, label: name).error("\(error)")
        refusals.append(ExitStatus.of(error))
        progress.end(name, RunStatistics(), status: ExitStatus.of(error))
    }

    /// - Returns: the exit code of the first job that failed, or 0.
    func run() -> Int32 {
        repeat {
            let seen = inputs
            for member in members where command.follow && !member.isOver { checkInputs(of: member) }
            for (group, loader) in models where !signals.stopFlag.isSet {
                run(group.filter { !$0.isOver }, on: loader)
            }
            if !command.follow || members.allSatisfy(\.isOver) { break }
            waitForChange(since: seen)
        } while !signals.stopFlag.isSet
        let codes = members.map { $0.status ?? stopped } + refusals
        return codes.first { $0 != 0 } ?? 0
    }

    private var stopped: Int32 { 128 + (signals.received ?? SIGINT) }

    /// State of all inputs, to detect growth.
    private var inputs: [String: FileInfo?] {
        let paths = members.flatMap(\.job.settings.input)
        return Dictionary(paths.map { ($0, Files.info(of: $0)) }) { first, _ in first }
    }

    private func waitForChange(since seen: [String: FileInfo?]) {
        while !signals.stopFlag.isSet {
            WorkerThread.sleep(seconds: 0.2)
            for member in members { member.job.settings.findInputs() }
            if inputs != seen { return }
        }
    }

    /// Checks between two rounds that no file comes before others, or is gone, if lines are known by number.
    private func checkInputs(of member: Member) {
        let now = member.job.settings.input
        if let outcome = member.outcome, outcome.input.read.hasNumbered, member.job.settings.output != "-",
            let reason = Self.shift(from: outcome.inputs, to: now)
        {
            let error = UserError(
                .badJob, at: reason.path,
                "\(reason.what), which would change the numbers by which lines without an id are known. Results stay as they are. Give lines ids, or files names in the order in which they come, and leave them there."
            )
            fail(member, error)
        }
    }

    /// Returns a change in a list of files other than additions at its end.
    static func shift(from old: [String], to new: [String]) -> (path: String, what: Message)? {
        guard let place = old.indices.first(where: { $0 >= new.count || new[$0] != old[$0] }) else {
            return nil
        }
        if !new.contains(old[place]) { return (old[place], "is not there any more") }
        return (new[place], "has come, and sorts before \(old[place])")
    }

    private func run(_ group: [Member], on models: ModelLoader) {
        var running: [Member] = []
        var jobs: [JobRun] = []
        for member in group {
            let run = open(member, on: models) { [progress] statistics in
                member.statistics = statistics
                let all = running.map(\.statistics)
                progress.update(all.dropFirst().reduce(all[0], +), of: member.name, statistics)
            }
            guard let run else { continue }
            running.append(member)
            jobs.append(run)
        }
        for member in running { progress.begin(member.name) }
        // On this thread, which works even if no thread can be created.
        JobRun.run(jobs, on: models)
    }

    private func open(
        _ member: Member, on models: ModelLoader, progress: @escaping (RunStatistics) -> Void
    ) -> JobRun? {
        // A single job handles late signals itself.
        let isAlone = members.count == 1 && !command.follow
        do {
            let run = try member.job.open(
                on: models, stopFlag: isAlone ? signals.stopFlag : StopFlag(of: signals.stopFlag),
                follows: command.follow, progress: progress, ended: { [self] in ended(member, $0) })
            member.log = run.log
            // Once is enough, however often its input grows.
            (member.job.restarts, member.job.redo) = (false, nil)
            return run
        } catch let error as UserError where error.kind == .interrupted {
            member.status = stopped
        } catch let error as UserError where error.kind == .locked && command.skipIfRunning {
            member.status = 0
        } catch {
            fail(member, error)
        }
        member.isOver = true
        return nil
    }

    private func fail(_ member: Member, _ error: any Error) {
        let status = ExitStatus.of(error)
        // Like any filter, it ends silently when nobody reads its output.
        if status != ExitStatus.closedOutput { member.console.error("\(error)") }
        (member.status, member.isOver) = (status, true)
        progress.end(member.name, member.statistics, status: status)
    }

    private func ended(_ member: Member, _ result: Result<RunOutcome, any Error>) {
        defer { member.log = nil }
        switch result {
        case .failure(let error):
            fail(member, error)
            if let log = member.log?.unfinishedLog {
                let goesOn = (error as? UserError)?.kind != .wouldLose
                let advice: Message = goesOn ? "; the same command goes on from there" : ""
                member.console.error("finished results are kept in \(log)\(advice)")
            }
        case .success(let outcome):
            let isFirst = member.status == nil
            member.statistics = outcome.statistics
            member.outcome = outcome
            var code = status(of: outcome)
            if members.count == 1, !command.follow { signals.runHasEnded(outcome.status) }
            let summary = Summary(
                job: member.job.settings, outcome: outcome, log: member.log,
                isAlone: members.count == 1)
            let didNothing = outcome.statistics.done + outcome.statistics.failedResults == 0
            if isFirst || !didNothing {
                for line in isFirst ? summary.lines : [summary.counts]
                where !line.isDetail || console.isDetailed {
                    member.console.say(line.message, line.figures)
                }
            }
            // Notes that repeat with each round are said once.
            member.job.log.logLevel = .notice
            for warning in summary.warnings { member.console.warn(warning.message, warning.figures) }
            if code == 0 { code = send(member) }
            member.status = code
            progress.end(member.name, outcome.statistics, status: code)
            if code == 3 {
                let report = summary.failureReport
                member.console.error(report.message, report.figures)
            }
        }
    }

    /// Uploads a complete output if it is remote.
    /// - Returns: the exit code.
    private func send(_ member: Member) -> Int32 {
        let settings = ModelFetch(console: member.console, isOffline: command.offline).settings
        for (path, address) in member.job.settings.sent where Files.kind(of: path) != nil {
            do {
                let isNew = try ObjectStore.put(path, at: address, isOffline: settings.isOffline) {
                    member.console.say("sending \(ModelFetch.size($0)) to \(address)")
                }
                member.console.say("\(address) \(isNew ? "has" : "had already") what is in \(path)")
            } catch {
                member.console.error("\(error)")
                member.console.error(
                    "all results are in \(path); the same command sends them to \(address)")
                return ExitStatus.of(error)
            }
        }
        return 0
    }

    private func status(of outcome: RunOutcome) -> Int32 {
        switch outcome.status {
        case .complete: 0
        case .tooManyFailures, .tooFewAccepted: 3
        case .interrupted: stopped
        }
    }
}
