import PhiModel

/// What a chat waits for besides its input: signals, and news of the answer. It is a pipe, as a signal's handler may
/// neither allocate nor lock.
final class ChatEvents: Sendable {
    enum Event: UInt8 {
        case interrupt = 1
        case resize, news
    }

    private let ends: (read: Int32, write: Int32)

    /// - Throws: `ModelError` of kind `resources`.
    init() throws {
        guard let ends = Platform.makePipe() else {
            throw ModelError(.resources, "a pipe can't be made. Raise the limit on open files (ulimit -n).")
        }
        self.ends = ends
    }

    deinit { Platform.closePipe(ends) }

    /// May be called in a signal's handler.
    func post(_ event: Event) { Platform.post(event.rawValue, to: ends.write) }

    /// Waits for events, or for something to read at `input`.
    func wait(input: Int32? = nil) -> (events: Set<Event>, hasInput: Bool) {
        let ready = Platform.waitForInput([ends.read] + (input.map { [$0] } ?? []))
        var events: Set<Event> = []
        if ready[0], let bytes = Platform.readSome(ends.read) { events = Set(bytes.compactMap(Event.init)) }
        return (events, ready.count > 1 && ready[1])
    }

    /// Those that are there now are of the past.
    func drop() { _ = Platform.readSome(ends.read) }
}
