import OperatingSystem

extension ComputePool {
    /// Like `run`, for work that can fail.
    /// - Throws: the error of the lowest index, whichever came first.
    func runThrowing(_ count: Int, _ body: (Int) throws -> Void) throws {
        let failure = Mutex<(index: Int, error: any Error)?>(nil)
        run(count) { index in
            // After a failed index nothing needs to be done.
            if failure.withLock({ $0.map { $0.index < index } ?? false }) { return }
            do {
                try body(index)
            } catch {
                failure.withLock { if $0.map({ index < $0.index }) ?? true { $0 = (index, error) } }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure.error }
    }
}
