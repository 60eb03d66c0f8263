import BatchEngine
import FoundationShim
import JSON
import OperatingSystem
import PhiText

/// Messages of a pipe, a JSON object a line.
///
///     {"phibatch":"1.0","protocol":1,"model":"…","context_length":4096,"vocabulary_size":…,"tokenizer":true}
///     {"request":7,"text":"…"[,"sample":1][,"attempt":1]}
///     {"request":7,"left":0,"result":{…}}
///     {"request":7,"error":{"code":"…","message":"…"}}
///     {"request":7,"cancelled":true}
package final class PipeOutput: Sendable {
    private let stopFlag: StopFlag
    private let write: @Sendable ([UInt8]) throws -> Void
    /// Held while a message is written.
    private let failure = Mutex<(any Error)?>(nil)

    package init(stopFlag: StopFlag, write: @escaping @Sendable ([UInt8]) throws -> Void) {
        (self.stopFlag, self.write) = (stopFlag, write)
    }

    package func greet(model: String, _ limits: ModelLimits, hasTokenizer: Bool) {
        say { writer in
            writer.string("phibatch", ProgramVersion.current)
            writer.int("protocol", PipeMessage.version)
            writer.string("model", model)
            writer.int("context_length", limits.contextLength)
            writer.int("vocabulary_size", limits.vocabularySize)
            writer.bool("tokenizer", hasTokenizer)
        }
    }

    package func tell(_ request: Int, _ event: PipedLines.Event) {
        say { writer in
            writer.int("request", request)
            switch event {
            case .text(let text, let sample, let attempt):
                writer.string("text", text)
                if sample > 0 { writer.int("sample", sample) }
                if attempt > 0 { writer.int("attempt", attempt) }
            case .result(let bytes, let left):
                writer.int("left", left)
                writer.raw("result", String(decoding: bytes, as: UTF8.self))
            // Only OpenAI's requests have these, and a pipe has none.
            case .reasoning, .answers: break
            case .failure(let error): Self.write(Self.code(of: error), "\(error)", &writer)
            case .stopped:
                Self.write("stopped", "phibatch was asked to stop before the request was done.", &writer)
            case .cancelled:
                writer.bool("cancelled", true)
            }
        }
    }

    /// Answers an invalid message.
    package func refuse(_ request: Int?, _ problem: String) {
        say { writer in
            if let request { writer.int("request", request) }
            Self.write("bad_message", problem, &writer)
        }
    }

    /// Notes that nothing more can be answered.
    package func fail(_ error: any Error) {
        failure.withLock { $0 = $0 ?? error }
        stopFlag.set()
    }

    /// - Throws: the error noted.
    package func end() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private static func write(_ code: String, _ message: String, _ writer: inout JSONWriter) {
        writer.object("error") { writer in
            writer.string("code", code)
            writer.string("message", message)
        }
    }

    private static func code(of error: any Error) -> String {
        guard let error = error as? UserError else { return "failed" }
        switch error.kind {
        case _ where error.isOfSettings: return "bad_settings"
        case .missing, .malformed, .unsupported, .badRequest, .promptTooLong, .resources:
            return "model_failed"
        default: return "failed"
        }
    }

    private func say(_ members: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.object(members)
        let bytes = writer.bytes
        do { try failure.withLock { if $0 == nil { try write(bytes) } } } catch { fail(error) }
    }
}
