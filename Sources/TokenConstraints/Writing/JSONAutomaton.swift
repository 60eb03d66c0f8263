import OperatingSystem
import Synchronization

/// Follows a text under an `AnswerShape`, byte by byte: a pushdown automaton whose states are made as texts reach them.
///
/// As a text may begin several shapes, a state is a list of places. Lists, frames and fixed texts are stored once and
/// numbered; so a state with all frames around it is one number, and a known step from it is a table lookup.
///
/// Safe to use from several threads; known results are read without a lock. Results depend only on the text, not on
/// earlier calls.
final class JSONAutomaton: AnswerWriter {
    let shape: AnswerShape
    let layout: AnswerGrammar.Layout
    /// By target, the beginnings of its values.
    let beginnings: [[Prefix]]
    let texts: [any ByteAutomaton]
    let strings: [StringText]
    let arrays: [ArrayShape]
    let objects: [ObjectFacts]

    enum Prefix {
        case text(Int32)
        case string(Int32)
        case array(Int32)
        case object(Int32)
    }

    // Stored once, by number.
    let frames = NumberedValues<Frame>()
    let frameFacts = SharedList<FrameFacts>()
    let fixedTexts = NumberedValues<[UInt8]>()
    let nexts = NumberedValues<Next>()
    let states = NumberedValues<[Place]>()
    // Used for every byte of every token.
    let tables = StateTables()
    /// Names that objects have had, as sets.
    let nameSets = NameSets()
    let shortestTexts = Memo<ShortestKey, [UInt8]>()
    let openedRests = Memo<Int32, [UInt8]>()
    let rests = Memo<RestKey, ArraySlice<UInt8>>()
    let wholeRests = Memo<WholeKey, WholeRest>()
    let goesOn = Memo<TextState, Bool>()
    /// By frame, the places once a value has ended in it.
    let afterValues = Memo<Int32, [Place]>()
    let stringWalks = Memo<StringWalk.Key, StringWalk>()
    /// Walks without the ends of single tokens.
    let wholeWalks = Memo<StringWalk.Key, StringWalk>()
    /// Bytes of the shortest names that are not taken; nil if all are.
    let nameBytes = Memo<Place, Int?>()
    /// Bytes of stored string walks and ways to the end.
    private let keptBytes = Atomic<Int>(0)

    struct ShortestKey: Hashable {
        var target: Int
        var depth: Int
    }

    struct TextState: Hashable {
        var text: Int32
        var state: Int32
    }

    static let dead: Int32 = -1
    /// The state before the first byte.
    let start: Int32 = 0
    let mostGrowth: Int?

    init(_ shape: AnswerShape, layout: AnswerGrammar.Layout) {
        self.shape = shape
        self.layout = layout
        mostGrowth = 16 + shape.targets.reduce(0) { max($0, $1.fewestBytes) }
        var numbering = Numbering()
        beginnings = shape.targets.map { $0.shapes.map { numbering.beginning(of: $0) } }
        texts = numbering.texts
        strings = numbering.strings
        arrays = numbering.arrays
        let colon: [UInt8] = layout.indent == nil ? [UInt8(ascii: ":")] : Array(": ".utf8)
        objects = numbering.objects.map { ObjectFacts($0, colon: colon) }
        var places = PlaceList()
        begin(shape.root, in: -1, &places)
        let first = number(of: places.places)
        precondition(first == start, "no state comes before that of the beginning")
    }

    /// Numbers automata and shapes; automata once, for any number of targets that share it.
    private struct Numbering {
        var texts: [any ByteAutomaton] = []
        var strings: [StringText] = []
        var arrays: [ArrayShape] = []
        var objects: [ObjectShape] = []
        private var known: [ObjectIdentifier: Int32] = [:]

        mutating func beginning(of shape: Shape) -> Prefix {
            switch shape {
            case .text(let text): .text(number(of: text, \.texts))
            case .string(let string): .string(number(of: string, \.strings))
            case .array(let array): .array(add(array, to: \.arrays))
            case .object(let object): .object(add(object, to: \.objects))
            }
        }

        private mutating func number<T>(of object: T, _ list: WritableKeyPath<Self, [T]>) -> Int32 {
            let identity = ObjectIdentifier(object as AnyObject)
            if let known = known[identity] { return known }
            let number = add(object, to: list)
            known[identity] = number
            return number
        }

        private mutating func add<T>(_ value: T, to list: WritableKeyPath<Self, [T]>) -> Int32 {
            self[keyPath: list].append(value)
            return Int32(self[keyPath: list].count - 1)
        }
    }

    // MARK: Numbers

    func number(of places: [Place]) -> Int32 {
        if places.isEmpty { return Self.dead }
        return states.number(of: places) { tables.addState() }
    }

    func number(of frame: Frame) -> Int32 {
        if let known = frames.known(frame) { return known }
        let facts = facts(of: frame)
        return frames.number(of: frame) { frameFacts.append(facts) }
    }

    func number(of text: [UInt8]) -> Int32 { fixedTexts.number(of: text) }
    func number(of next: Next) -> Int32 { nexts.number(of: next) }

    /// The approximate bytes of the tables.
    var bytes: Int {
        states.count * 1400 + frames.count * 300 + nameSets.bytes + keptBytes.load(ordering: .relaxed)
            + tables.planBytes + 64 * nameBytes.count
    }

    func count(keptBytes bytes: Int) { keptBytes.wrappingAdd(bytes, ordering: .relaxed) }

    // MARK: Steps

    /// Returns the state after one more byte; `dead` if no answer continues so. A free name that ends is then unknown.
    func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        let known = tables.next(state, byte)
        return known != StateTables.unknown ? known : computeNext(state, byte)
    }

    private func computeNext(_ state: Int32, _ byte: UInt8) -> Int32 {
        if !tables.hasSteps(state), states[Int(state)].count > Self.fewPlaces {
            ruleOut(from: state)
            if tables.next(state, byte) == Self.dead { return Self.dead }
        }
        let next = next(state, byte, name: nil)
        tables.set(state, byte, next)
        return next
    }

    /// - Parameter name: the free name that this byte ends, if any.
    func next(_ state: Int32, _ byte: UInt8, name: [UInt8]?) -> Int32 {
        if isBack(state, byte) { return state }
        var places = PlaceList()
        for place in states[Int(state)] { step(place, byte, name, &places) }
        return number(of: places.places)
    }

    /// Whether a free name may end in this state.
    func hasFreeName(_ state: Int32) -> Bool { states[Int(state)].contains { $0.kind == .freeName } }

    /// Whether the text may end here.
    func isFinal(_ state: Int32) -> Bool { states[Int(state)].contains { $0.kind == .end } }

    /// Whether the text ends here.
    func isComplete(_ state: Int32) -> Bool { states[Int(state)].allSatisfy { $0.kind == .end } }

    // MARK: Texts

    func state(after bytes: ArraySlice<UInt8>, from state: Int32, _ text: [UInt8]) -> Int32? {
        var state = state
        for (place, byte) in zip(bytes.indices, bytes) {
            if byte == UInt8(ascii: "\""), hasFreeName(state) {
                state = next(state, byte, name: Self.lastName(of: text + bytes[..<place]))
            } else {
                state = next(state, byte)
            }
            if state < 0 { return nil }
        }
        return state
    }

    /// Returns the bytes after the last quote that is not escaped.
    private static func lastName(of text: [UInt8]) -> [UInt8] {
        var place = text.count
        while place > 0 {
            place -= 1
            guard text[place] == UInt8(ascii: "\"") else { continue }
            let escapes = text[..<place].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            if escapes % 2 == 0 { return Array(text[(place + 1)...]) }
        }
        return text
    }

    func onlyByte(_ state: Int32) -> UInt8? {
        // The bytes after a free name depend on it.
        hasFreeName(state) ? nil : tables.onlyByte(state) { findOnlyByte(state) }
    }

    func isDeep(_ state: Int32) -> Bool {
        states[Int(state)].contains {
            $0.frame >= 0 && frameFacts[Int($0.frame)].depth > ConstraintLimits.depth
        }
    }

    func shortestEnd(_ state: Int32) -> [UInt8] {
        states[Int(state)].map { shortestEnd($0) }.min { $0.count < $1.count } ?? []
    }

    func mask(_ state: Int32, _ tokens: TokenTrie, isStart: Bool, left: Int?) -> StateMask {
        var maker = MaskMaker(self, tokens, left: left)
        return maker.mask(of: state, isStart: isStart)
    }
}

/// The places of a state, without duplicates, in order of discovery; at most the limit.
struct PlaceList {
    private(set) var places: [Place] = []
    /// For many places, by their hashes, the number of each and 1 more; 0 for none.
    private var slots: [UInt16] = []

    mutating func add(_ place: Place) {
        guard places.count < ConstraintLimits.places else { return }
        if places.count < 8 {
            if places.contains(place) { return }
        } else {
            if 2 * places.count >= slots.count { spread() }
            let slot = slot(of: place)
            guard slots[slot] == 0 else { return }
            slots[slot] = UInt16(places.count + 1)
        }
        places.append(place)
    }

    /// The slot that has a place, or would.
    private func slot(of place: Place) -> Int {
        var slot = place.quickHash & (slots.count - 1)
        while slots[slot] != 0, places[Int(slots[slot]) - 1] != place {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private mutating func spread() {
        slots = Array(repeating: 0, count: max(64, 2 * slots.count))
        for (number, place) in places.enumerated() { slots[slot(of: place)] = UInt16(number + 1) }
    }
}
