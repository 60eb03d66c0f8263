/// Which request: a number that the loop gives it, and by which engine and loop speak of it.
package struct RequestID: Hashable, Sendable, Comparable {
    package let value: Int

    package init(_ value: Int) { self.value = value }

    package static func < (a: RequestID, b: RequestID) -> Bool { a.value < b.value }
}
