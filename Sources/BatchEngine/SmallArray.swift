/// An array that stores its first element inline, as there is mostly one or none.
package struct SmallArray<Element> {
    private var head: Element?
    private var rest: [Element] = []

    package init(_ first: Element?) { head = first }

    package init(_ elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    package mutating func append(_ element: Element) {
        if head == nil { head = element } else { rest.append(element) }
    }
}

extension SmallArray: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { head == nil ? 0 : 1 + rest.count }

    package subscript(position: Int) -> Element {
        if position > 0 { return rest[position - 1] }
        guard position == 0, let head else { preconditionFailure("an element that is not there") }
        return head
    }
}

extension SmallArray: Sendable where Element: Sendable {}
extension SmallArray: Equatable where Element: Equatable {}
