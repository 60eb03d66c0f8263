/// Which request: a number that the loop gives it, and by which engine and loop speak of it.
public struct RequestID: Hashable, Sendable, Comparable {
    public let value: Int

    public init(_ value: Int) { self.value = value }

    public static func < (a: RequestID, b: RequestID) -> Bool { a.value < b.value }
}
