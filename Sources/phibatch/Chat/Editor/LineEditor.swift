/// A line while it is edited, with the keys that people know from a shell. A value: keys go in, text and cursor are
/// there to be shown.
struct LineEditor {
    enum Outcome: Equatable {
        case edited
        /// Enter: the line is whole, and the editor is empty again.
        case accepted(String)
        /// Ctrl-C: the line is dropped.
        case cancelled
        /// Ctrl-D where there is no text.
        case ended
        case suspended
        case screenCleared
    }

    /// What stands before the cursor, and after it, as a person counts characters.
    private(set) var before: [Character] = []
    private(set) var after: [Character] = []
    private var history = LineHistory()
    /// Characters of a line at most; no context holds more.
    static let limit = 1_000_000
    /// What was cut out last.
    private var cut: [Character] = []
    private var lastKey: Key?
    /// Words that Tab completes at the beginning of the text.
    private let words: [String]

    init(words: [String] = []) { self.words = words }

    var text: String { String(before) + String(after) }
    var isEmpty: Bool { before.isEmpty && after.isEmpty }

    mutating func press(_ key: Key) -> Outcome {
        defer { lastKey = key }
        switch key {
        case .text(let text), .paste(let text): insert(text)
        case .newLine: insert("\n")
        case .tab: complete()
        case .left, .right, .home, .end, .wordLeft, .wordRight: move(key)
        case .up: if let text = history.earlier(than: text) { replace(text) }
        case .down: if let text = history.later() { replace(text) }
        case .backspace: if !before.isEmpty { before.removeLast() }
        case .delete: if !after.isEmpty { after.removeFirst() }
        case .endOfInput:
            if isEmpty { return .ended }
            if !after.isEmpty { after.removeFirst() }
        case .killToEnd, .killToStart, .deleteToSpace, .deleteWordLeft, .deleteWordRight: cutOut(key)
        case .yank: insert(String(cut))
        case .swap: swap()
        case .redraw: break
        case .clearScreen: return .screenCleared
        case .suspend: return .suspended
        case .interrupt:
            clear()
            return .cancelled
        case .enter:
            let line = text
            history.add(line)
            clear()
            return .accepted(line)
        }
        join()
        return .edited
    }

    private mutating func clear() {
        (before, after) = ([], [])
        history.leave()
    }

    private mutating func replace(_ text: String) { (before, after) = (Array(text), []) }

    /// An accent joins the letter before it.
    private mutating func insert(_ text: String) {
        // What is yanked into itself again and again doubles each time.
        guard before.count + after.count + text.utf8.count <= Self.limit else { return }
        let last = before.popLast().map { String($0) } ?? ""
        before += Array(last + text)
    }

    /// What stands on both sides of the cursor may have become one character.
    private mutating func join() {
        guard let last = before.last, let first = after.first else { return }
        let pair = Array(String(last) + String(first))
        if pair.count == 1 {
            before[before.count - 1] = pair[0]
            after.removeFirst()
        }
    }

    private mutating func swap() {
        guard before.count + min(after.count, 1) > 1, !before.isEmpty else { return }
        // At the end the two before the cursor.
        if after.isEmpty { after.append(before.removeLast()) }
        before.insert(after.removeFirst(), at: before.count - 1)
    }

    /// The one word that begins so, or as much as those have in common that do.
    private mutating func complete() {
        let start = String(before)
        let fitting = words.filter { $0.hasPrefix(start) }
        guard !start.isEmpty, after.isEmpty, let first = fitting.first else { return }
        let common = fitting.dropFirst().reduce(first) { shared, word in
            String(zip(shared, word).prefix { $0 == $1 }.map(\.0))
        }
        replace(fitting.count == 1 ? common + " " : common)
    }

    // MARK: Places in the text

    private mutating func move(_ key: Key) {
        let place = before.count
        let all = before + after
        let target =
            switch key {
            case .left: max(0, place - 1)
            case .right: min(all.count, place + 1)
            case .home: 0
            case .end: all.count
            case .wordLeft: start(before, of: Self.isInWord)
            default: place + end(of: Self.isInWord)
            }
        (before, after) = (Array(all[..<target]), Array(all[target...]))
    }

    private mutating func cutOut(_ key: Key) {
        var new: [Character]
        var isLeft = true
        switch key {
        case .killToEnd:
            (new, after, isLeft) = (after, [], false)
        case .deleteWordRight:
            let count = end(of: Self.isInWord)
            new = Array(after.prefix(count))
            after.removeFirst(count)
            isLeft = false
        default:
            let place =
                switch key {
                case .killToStart: 0
                case .deleteToSpace: start(before, of: { !$0.isWhitespace })
                default: start(before, of: Self.isInWord)
                }
            new = Array(before[place...])
            before.removeLast(new.count)
        }
        guard !new.isEmpty else { return }
        // What is cut out by several keys after another is one piece.
        if let lastKey,
            [.killToEnd, .killToStart, .deleteToSpace, .deleteWordLeft, .deleteWordRight].contains(lastKey)
        {
            new = isLeft ? new + cut : cut + new
        }
        cut = new
    }

    private static func isInWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    private func start(_ text: [Character], of isInWord: (Character) -> Bool) -> Int {
        var place = text.count
        while place > 0, !isInWord(text[place - 1]) { place -= 1 }
        while place > 0, isInWord(text[place - 1]) { place -= 1 }
        return place
    }

    /// How many characters after the cursor go to the end of a word.
    private func end(of isInWord: (Character) -> Bool) -> Int {
        let start = after.firstIndex(where: isInWord) ?? after.count
        return after[start...].firstIndex { !isInWord($0) } ?? after.count
    }
}
