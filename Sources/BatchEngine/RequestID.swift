/// Number that identifies a request between loop and engine.
package struct RequestID: Hashable, Sendable, Comparable {
    package let value: Int

    package init(_ value: Int) { self.value = value }

    package static func < (a: RequestID, b: RequestID) -> Bool { a.value < b.value }
}
