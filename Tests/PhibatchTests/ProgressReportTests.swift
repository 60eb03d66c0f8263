import BatchPipeline
import Testing

@testable import phibatch

/// What the line of a run says while it goes on.
@Suite struct ProgressReportTests {
    private var statistics: RunStatistics {
        var statistics = RunStatistics()
        statistics.done = 38
        statistics.total = 500
        statistics.seconds = 4
        statistics.running = 16
        return statistics
    }

    @Test func totalAndTimeLeftAreSaid() {
        var statistics = statistics
        statistics.completionTokens = 4044
        statistics.skipped = 100
        #expect(
            ProgressReport.text(statistics).text
                == "138/500  27 %   1,011 tokens/s  0:04, 0:39 left  16 running  0 failed")
        statistics.total = nil
        #expect(
            ProgressReport.text(statistics).text
                == "138/?   ? %   1,011 tokens/s  0:04, -:-- left  16 running  0 failed")
        #expect(clock(3725) == "1:02:05" && grouped(1_234_567) == "1,234,567" && grouped(999) == "999")
    }

    @Test func acceptedRowsAreSaid() {
        var statistics = statistics
        statistics.tally = [.accepted: 10, .dropped(by: "judge", .notAccepted): 28]
        #expect(
            ProgressReport.text(statistics).text
                == " 38/500   7 %  10 of 38 accepted       0 tokens/s  0:04, 0:49 left  16 running  0 failed")
        // 30 of an earlier run; 60 are to come, at 10 in 4 seconds.
        (statistics.accepted, statistics.wanted, statistics.skipped) = (40, 100, 80)
        #expect(
            ProgressReport.text(statistics).text
                == " 40/100 accepted, 118 done       0 tokens/s  0:04, 0:24 left  16 running  0 failed")
        // Beside another job nobody knows how many rows it takes.
        statistics.tally = [.accepted: 10]
        #expect(
            ProgressReport.text(statistics + self.statistics).text
                == "156/?   ? %  10 of 10 accepted       0 tokens/s  0:04, -:-- left  32 running  0 failed")
    }
}
