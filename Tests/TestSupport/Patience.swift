import Foundation

/// Sanitizers make all code many times slower.
package let isSanitized = ProcessInfo.processInfo.environment["PHIBATCH_SANITIZER"] != nil

/// What a time limit is multiplied by.
package let patience: Double = isSanitized ? 20 : 1
