import Foundation

/// Sanitizers make all code many times slower.
package let isSanitized = ProcessInfo.processInfo.environment["PHIBATCH_SANITIZER"] != nil

/// What a time limit is multiplied by.
package let patience: Double = isSanitized ? 20 : 1

/// Seconds after which something will not come any more. Minutes pass before a machine that runs all tests has a
/// processor for each of them.
package let longestWait: Double = isSanitized ? 3600 : 600

/// Runs it on a thread of its own, so that what waits for ever is a failure. Swift Testing's time limit counts the time
/// in which a test waits for one of Swift's threads; this one does not.
package func inTime(_ body: @escaping @Sendable () -> Void) throws {
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        body()
        isDone.signal()
    }
    guard isDone.wait(timeout: .now() + longestWait) == .success else { throw NeverEnds() }
}

package struct NeverEnds: Error {}
