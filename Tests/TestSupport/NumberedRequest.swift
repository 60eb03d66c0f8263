import BatchEngine

extension Request {
    /// The test's number of it; -1 if it has none.
    package var number: Int {
        get { (label as? NumberLabel)?.number ?? -1 }
        set { label = NumberLabel(newValue) }
    }

    package init(prompt: [Int32], kind: any RequestKind, number: Int) {
        self.init(prompt: prompt, kind: kind)
        self.number = number
    }
}

private final class NumberLabel: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
}
