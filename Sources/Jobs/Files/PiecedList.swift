/// A list of many small values in pieces of equal size: as it grows, at most one piece is in memory twice.
struct PiecedList<Element: BitwiseCopyable> {
    private static var pieceSize: Int { 1 << 16 }

    private var pieces: [[Element]] = []
    private(set) var count = 0

    subscript(position: Int) -> Element {
        get { pieces[position / Self.pieceSize][position % Self.pieceSize] }
        set { pieces[position / Self.pieceSize][position % Self.pieceSize] = newValue }
    }

    mutating func append(_ element: Element) {
        if count % Self.pieceSize == 0 { pieces.append([]) }
        pieces[pieces.count - 1].append(element)
        count += 1
    }

    /// Truncates the list.
    mutating func end(at position: Int) {
        count = position
        pieces.removeSubrange((position + Self.pieceSize - 1) / Self.pieceSize..<pieces.count)
        if position % Self.pieceSize > 0 {
            pieces[pieces.count - 1].removeSubrange((position % Self.pieceSize)...)
        }
    }
}
