import Errors
import Foundation
import TestSupport
import Testing

@testable import phibatch

/// A pipe that nobody reads, unless the test does.
private final class FullPipe {
    let writing: Int32
    private let reading: Int32
    private let filling: Int

    init(fill: Bool = true) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        var count = 0
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 512)
        while fill {
            let written = write(writing, block, block.count)
            if written <= 0 { break }
            count += written
        }
        filling = count
        _ = fcntl(writing, F_SETFL, 0)
    }

    /// All that is in it, without what filled it.
    func drain() -> String {
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes.drop { $0 == UInt8(ascii: "x") }, as: UTF8.self)
    }

    func closeReading() { close(reading) }

    deinit { close(writing) }
}

/// Each of these would wait for ever if a write did.
struct MessageStreamTests {
    @Test func linesComeOutInOrder() throws {
        let pipe = try FullPipe(fill: false)
        let stream = MessageStream(descriptor: pipe.writing)
        try inTime {
            stream.line("one", .info)
            stream.draw("drawn")
            stream.line("two\nthree", .error)
            stream.finish()
        }
        #expect(pipe.drain() == "phibatch: one\n\rdrawn\u{1B}[K\r\u{1B}[Kphibatch: two\nthree\n")
    }

    @Test func aFullPipeLosesInformationOnly() throws {
        let pipe = try FullPipe()
        let stream = MessageStream(descriptor: pipe.writing)
        try inTime {
            stream.line("first", .info)
            stream.draw("progress")
            stream.line("a warning", .warning)
            stream.line("an error", .error)
            stream.line("second", .info)
        }
        #expect(pipe.drain() == "")
        try inTime {
            stream.line("third", .info)
            stream.finish()
        }
        #expect(
            pipe.drain()
                == "phibatch: 1 line is left out here: nobody read it\nphibatch: a warning\n"
                + "phibatch: an error\nphibatch: 1 line is left out here: nobody read it\nphibatch: third\n"
        )
    }

    @Test func theEndWaitsForErrorsOnly() throws {
        let pipe = try FullPipe()
        let stream = MessageStream(descriptor: pipe.writing)
        try inTime {
            stream.line("a warning", .warning)
            stream.finish()
        }
        #expect(pipe.drain() == "")

        let other = try FullPipe()
        let errors = MessageStream(descriptor: other.writing)
        try inTime { errors.line("an error", .error) }
        let (hasBegun, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            hasBegun.signal()
            errors.finish()
            isDone.signal()
        }
        thread.start()
        // The pipe is full: whoever ended without waiting would have written nothing.
        #expect(hasBegun.wait(timeout: .now() + longestWait) == .success)
        var text = other.drain()
        #expect(isDone.wait(timeout: .now() + longestWait) == .success)
        text += other.drain()
        #expect(text == "phibatch: an error\n")
    }

    /// Lines longer than what a pipe takes in one piece stay whole.
    @Test func longLinesStayWhole() throws {
        let pipe = try FullPipe(fill: false)
        let stream = MessageStream(descriptor: pipe.writing)
        let value = String(repeating: "y", count: 1900)
        let text: Message = "\(value)\(value)\(value)\(value)\(value)"
        var all = ""
        try inTime { for _ in 0..<10 { stream.line(text, .info) } }
        for _ in 0..<3 {
            all += pipe.drain()
            try inTime { stream.line("next", .error) }
        }
        try inTime { stream.finish() }
        all += pipe.drain()
        let lines = all.split(separator: "\n").map { $0.dropFirst("phibatch: ".count) }
        #expect(lines.contains { $0.count == 9500 })
        #expect(lines.allSatisfy { $0.count == 9500 || $0 == "next" || $0.hasSuffix("nobody read them") })
    }

    @Test func aClosedPipeIsNoFault() throws {
        let pipe = try FullPipe(fill: false)
        let stream = MessageStream(descriptor: pipe.writing)
        pipe.closeReading()
        try inTime {
            // Of this thread alone: another test sets the process's handler.
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &set, nil)
            for _ in 0..<3 { stream.line("nobody there", .error) }
            stream.finish()
        }
    }
}
