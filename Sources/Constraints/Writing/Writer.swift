/// Follows a text that is being written under an `AnswerShape`, byte by byte: a pushdown automaton whose states are made
/// as texts lead to them.
///
/// As one text may be the beginning of several shapes, a state is a list of places. Lists, frames and fixed texts are
/// kept once and known by number; so a state with all that is open around it is one number, and a step from it that
/// was taken before is a look into a table.
///
/// One thread at a time. What it says depends on the text alone, not on what was asked before.
final class Writer: AnswerWriter {
    let shape: AnswerShape
    let layout: AnswerGrammar.Layout
    /// By goal, how its values begin.
    let beginnings: [[Beginning]]
    let texts: [any ByteAutomaton]
    let strings: [any StringText]
    let arrays: [ArrayShape]
    let objects: [ObjectFacts]

    enum Beginning {
        case text(Int32)
        case string(Int32)
        case array(Int32)
        case object(Int32)
    }

    // Kept once, by number.
    var frames: [Frame] = []
    var frameFacts: [FrameFacts] = []
    private var frameNumbers: [Frame: Int32] = [:]
    var fixedTexts: [[UInt8]] = []
    private var fixedNumbers: [[UInt8]: Int32] = [:]
    var nexts: [Next] = []
    private var nextNumbers: [Next: Int32] = [:]
    var states: [[Place]] = []
    private var stateNumbers: [[Place]: Int32] = [:]
    var stateFacts: [StateFacts] = []
    // Asked for every byte of every token.
    @exclusivity(unchecked) private var steps = StepTables()
    /// Names that objects have had, as sets.
    var nameSets = NameSets()
    var shortestTexts: [ShortestKey: [UInt8]] = [:]
    var openedRests: [Int32: [UInt8]] = [:]
    var rests: [RestKey: ArraySlice<UInt8>] = [:]
    var wholeRests: [WholeKey: WholeRest] = [:]
    var goesOn: [TextState: Bool] = [:]
    private(set) var stringWalks: [StringWalk.Key: StringWalk] = [:]

    struct ShortestKey: Hashable {
        var goal: Int
        var depth: Int
    }

    struct TextState: Hashable {
        var text: Int32
        var state: Int32
    }

    /// What is known of a state once it was asked.
    struct StateFacts {
        /// Levels of frames that are open.
        var depth: Int
        /// Bytes of the shortest way to an end.
        var fewestBytes = -1
        /// The only byte that can come next; -1 if there are several, or the text may end; -2 while not known.
        var only: Int16 = -2
        /// The shortest way to an end in tokens; nil while not known.
        var plan: [Int32]??
        /// The classes of bytes all of which lead back to the state; nil while not known.
        var loops: UInt64?
    }

    static let dead: Int32 = -1
    /// The state before the first byte.
    private(set) var start: Int32 = 0
    let mostGrowth: Int?

    init(_ shape: AnswerShape, layout: AnswerGrammar.Layout) {
        self.shape = shape
        self.layout = layout
        mostGrowth = 16 + shape.goals.reduce(0) { max($0, $1.fewestBytes) }
        var numbering = Numbering()
        beginnings = shape.goals.map { $0.shapes.map { numbering.beginning(of: $0) } }
        texts = numbering.texts
        strings = numbering.strings
        arrays = numbering.arrays
        let colon: [UInt8] = layout == .compact ? [UInt8(ascii: ":")] : Array(": ".utf8)
        objects = numbering.objects.map { ObjectFacts($0, colon: colon) }
        var places = PlaceList()
        begin(shape.root, in: -1, &places)
        start = number(of: places.places)
    }

    deinit { steps.deallocate() }

    /// Numbers each automaton and shape once, however many goals share it.
    private struct Numbering {
        var texts: [any ByteAutomaton] = []
        var strings: [any StringText] = []
        var arrays: [ArrayShape] = []
        var objects: [ObjectShape] = []
        private var known: [ObjectIdentifier: Int32] = [:]

        mutating func beginning(of shape: Shape) -> Beginning {
            switch shape {
            case .text(let text): .text(number(of: text, \.texts))
            case .string(let string): .string(number(of: string, \.strings))
            case .array(let array): .array(number(of: array, \.arrays))
            case .object(let object): .object(number(of: object, \.objects))
            }
        }

        private mutating func number<T>(of object: T, _ list: WritableKeyPath<Self, [T]>) -> Int32 {
            let identity = ObjectIdentifier(object as AnyObject)
            if let known = known[identity] { return known }
            self[keyPath: list].append(object)
            let number = Int32(self[keyPath: list].count - 1)
            known[identity] = number
            return number
        }
    }

    // MARK: Numbers

    func number(of places: [Place]) -> Int32 {
        if places.isEmpty { return Self.dead }
        if let known = stateNumbers[places] { return known }
        let number = Int32(states.count)
        states.append(places)
        stateFacts.append(
            StateFacts(
                depth: places.reduce(0) { max($0, $1.frame < 0 ? 0 : frameFacts[Int($1.frame)].depth) }))
        stateNumbers[places] = number
        steps.addState()
        return number
    }

    func number(of frame: Frame) -> Int32 {
        if let known = frameNumbers[frame] { return known }
        let facts = facts(of: frame)
        let number = Int32(frames.count)
        frames.append(frame)
        frameFacts.append(facts)
        frameNumbers[frame] = number
        return number
    }

    func number(of text: [UInt8]) -> Int32 {
        if let known = fixedNumbers[text] { return known }
        fixedTexts.append(text)
        fixedNumbers[text] = Int32(fixedTexts.count - 1)
        return Int32(fixedTexts.count - 1)
    }

    func number(of next: Next) -> Int32 {
        if let known = nextNumbers[next] { return known }
        nexts.append(next)
        nextNumbers[next] = Int32(nexts.count - 1)
        return Int32(nexts.count - 1)
    }

    /// About how many bytes the tables take.
    var bytes: Int {
        states.count * 1400 + frames.count * 300 + nameSets.bytes + walkBytes + restBytes + planBytes
    }
    private(set) var walkBytes = 0
    /// Bytes of ways to the end that are kept.
    var restBytes = 0
    var planBytes = 0

    /// Keeps what was found of a string's state.
    func keep(_ walk: StringWalk, for key: StringWalk.Key) {
        stringWalks[key] = walk
        walkBytes += walk.bytes
    }

    // MARK: Steps

    /// The state after one more byte; `dead` if no answer goes on that way. A free name that ends is not known then.
    func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        let known = steps[state, byte]
        return known != StepTables.unknown ? known : computeNext(state, byte)
    }

    private func computeNext(_ state: Int32, _ byte: UInt8) -> Int32 {
        let next = next(state, byte, name: nil)
        steps.set(state, byte, next)
        return next
    }

    /// - Parameter name: the free name that this byte ends, if it does.
    func next(_ state: Int32, _ byte: UInt8, name: [UInt8]?) -> Int32 {
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
}

/// The places of a state, each once, in the order in which they were found; no more than a state may have.
struct PlaceList {
    private(set) var places: [Place] = []
    private var known: Set<Place> = []

    mutating func add(_ place: Place) {
        guard places.count < ConstraintLimits.places else { return }
        if places.count < 8 {
            if places.contains(place) { return }
        } else {
            if known.isEmpty { known = Set(places) }
            guard known.insert(place).inserted else { return }
        }
        places.append(place)
    }
}
