/// Steps of one byte, and what may follow when something ends.
extension JSONAutomaton {
    func step(_ place: Place, _ byte: UInt8, _ name: [UInt8]?, _ places: inout PlaceList) {
        switch place.kind {
        case .end: break
        case .fixed:
            let text = fixedTexts[Int(place.a)]
            guard text[Int(place.b)] == byte else { return }
            if Int(place.b) + 1 == text.count {
                go(on: nexts[Int(place.c)], in: place.frame, &places)
            } else {
                var after = place
                after.b += 1
                places.add(after)
            }
        case .text:
            let text = texts[Int(place.a)]
            let state = text.next(place.b, byte)
            if state >= 0 { reach(place.a, state, in: place.frame, &places) }
        case .string: stepInString(place, byte, &places)
        case .name:
            let frame = frames[Int(place.frame)]
            let object = objects[Int(frame.shape)]
            let open = frameFacts[Int(place.frame)].open
            guard let node = object.names.next(place.b, byte, in: open) else { return }
            if let member = object.names.member(at: node) {
                begin(object.shape.members[Int(member)].target, in: writing(member, place.frame), &places)
            } else {
                var after = place
                after.b = node
                places.add(after)
            }
        case .freeName: stepInName(place, byte, name, &places)
        }
    }

    /// Continues from a text's state.
    private func reach(_ text: Int32, _ state: Int32, in frame: Int32, _ places: inout PlaceList) {
        let automaton = texts[Int(text)]
        let isFinal = automaton.isFinal(state)
        if !isFinal || canGoOn(text, state) {
            places.add(Place(kind: .text, a: text, b: state, frame: frame))
        }
        if isFinal { end(in: frame, &places) }
    }

    private func canGoOn(_ text: Int32, _ state: Int32) -> Bool {
        goesOn.value(of: TextState(text: text, state: state)) {
            let automaton = texts[Int(text)]
            return (UInt8.min...UInt8.max).contains { automaton.next(state, $0) >= 0 }
        }
    }

    private func stepInString(_ place: Place, _ byte: UInt8, _ places: inout PlaceList) {
        let string = strings[Int(place.a)]
        let contents = string.contents
        let count = Int(place.c)
        if byte == UInt8(ascii: "\""), contents.isBetweenScalars(place.b) {
            guard contents.isFinal(place.b), count >= string.minLength else { return }
            end(in: place.frame, &places)
            return
        }
        guard let (state, after) = string.next(place.b, count, byte) else { return }
        places.add(Place(kind: .string, a: place.a, b: state, c: Int32(after), frame: place.frame))
    }

    private func stepInName(_ place: Place, _ byte: UInt8, _ name: [UInt8]?, _ places: inout PlaceList) {
        let object = objects[Int(frames[Int(place.frame)].shape)]
        guard let free = object.shape.free else { return }
        let names = free.names
        if byte == UInt8(ascii: "\""), names.isBetweenScalars(place.b) {
            guard names.isFinal(place.b), !isTaken(place, object) else { return }
            let frame = writing(freeName: name, place.frame)
            add(fixed: object.colon, .value(free.target(place.b)), in: frame, &places)
            return
        }
        if let after = nextInName(place, byte, object), isOpen(after, object) { places.add(after) }
    }

    /// The place in a free name after a byte; nil if no name continues so.
    func nextInName(_ place: Place, _ byte: UInt8, _ object: ObjectFacts) -> Place? {
        guard let state = object.shape.free?.names.next(place.b, byte), state >= 0 else { return nil }
        var after = place
        after.b = state
        after.c = place.c < 0 ? -1 : object.reserved.child(of: place.c, byte) ?? -1
        after.d = place.d < 0 ? -1 : nameSets.child(of: place.d, byte) ?? -1
        return after
    }

    /// Whether the name that ends here is reserved, or was there before.
    func isTaken(_ place: Place, _ object: ObjectFacts) -> Bool {
        place.c >= 0 && object.reserved.isEnd(place.c) || place.d >= 0 && nameSets.isEnd(place.d)
    }

    /// Whether a name that is not taken continues from here.
    func isOpen(_ place: Place, _ object: ObjectFacts) -> Bool {
        guard place.c >= 0 || place.d >= 0, let free = object.shape.free,
            let count = free.names.nameCount(place.b)
        else { return true }
        var taken: [[UInt8]] = []
        if place.c >= 0 { taken += object.reserved.texts(below: place.c) }
        if place.d >= 0 { taken += nameSets.texts(below: place.d) }
        return count > free.names.accepted(taken, from: place.b).count
    }

    // MARK: Continuations

    func add(fixed text: [UInt8], _ next: Next, in frame: Int32, _ places: inout PlaceList) {
        places.add(Place(kind: .fixed, a: number(of: text), b: 0, c: number(of: next), frame: frame))
    }

    func begin(_ target: Int, in frame: Int32, _ places: inout PlaceList) {
        for beginning in beginnings[target] {
            switch beginning {
            case .text(let text): reach(text, texts[Int(text)].start, in: frame, &places)
            case .string(let string): add(fixed: Self.quote, .string(string), in: frame, &places)
            case .array(let array):
                let inner = Frame(
                    kind: .array, shape: array, count: 0, position: 0, names: 0, parent: frame)
                add(fixed: Self.openArray, .opened, in: number(of: inner), &places)
            case .object(let object):
                let inner = Frame(
                    kind: .object, shape: object, count: 0, position: 0, names: 0, parent: frame)
                add(fixed: Self.openObject, .opened, in: number(of: inner), &places)
            }
        }
    }

    private func go(on next: Next, in frame: Int32, _ places: inout PlaceList) {
        switch next {
        case .value(let target): begin(target, in: frame, &places)
        case .string(let string):
            places.add(
                Place(kind: .string, a: string, b: strings[Int(string)].contents.start, frame: frame))
        case .opened: goOn(in: frame, isFirst: true, &places)
        case .item:
            if let item = frameFacts[Int(frame)].item { begin(item, in: writingItem(frame), &places) }
        case .name: beginName(in: frame, &places)
        case .closed: end(in: frames[Int(frame)].parent, &places)
        }
    }

    func beginName(in frame: Int32, _ places: inout PlaceList) {
        let facts = frameFacts[Int(frame)]
        if !facts.open.isEmpty { places.add(Place(kind: .name, frame: frame)) }
        if facts.mayBeFree { places.add(freeName(in: frame)) }
    }

    func freeName(in frame: Int32) -> Place {
        let object = objects[Int(frames[Int(frame)].shape)]
        return Place(
            kind: .freeName, b: object.shape.free?.names.start ?? 0,
            c: object.shape.reserved.isEmpty ? -1 : 0, d: nameSets.root(of: frames[Int(frame)].names),
            frame: frame)
    }

    /// Continues after a value.
    func end(in frame: Int32, _ places: inout PlaceList) {
        if frame < 0 { return places.add(Place(kind: .end, frame: -1)) }
        let after = afterValues.value(of: frame) {
            var after = PlaceList()
            goOn(in: frame, isFirst: false, &after)
            return after.places
        }
        for place in after { places.add(place) }
    }

    /// After a frame's opening bracket, or after a value in it.
    private func goOn(in frame: Int32, isFirst: Bool, _ places: inout PlaceList) {
        let facts = frameFacts[Int(frame)]
        let kind = frames[Int(frame)].kind
        if facts.mayClose {
            add(fixed: closing(kind, facts.depth, isEmpty: isFirst), .closed, in: frame, &places)
        }
        if kind == .array, facts.item != nil {
            let text = separator(facts.depth, isFirst: isFirst)
            if text.isEmpty {
                go(on: .item, in: frame, &places)
            } else {
                add(fixed: text, .item, in: frame, &places)
            }
        } else if kind == .object, !facts.open.isEmpty || facts.mayBeFree {
            add(fixed: separator(facts.depth, isFirst: isFirst) + Self.quote, .name, in: frame, &places)
        }
    }

    // MARK: Punctuation

    static let quote = Array("\"".utf8)
    static let openArray = Array("[".utf8)
    static let openObject = Array("{".utf8)

    /// The text before an item or a name.
    func separator(_ depth: Int, isFirst: Bool) -> [UInt8] {
        (isFirst ? [] : [UInt8(ascii: ",")]) + newLine(depth)
    }

    func closing(_ kind: Frame.Container, _ depth: Int, isEmpty: Bool) -> [UInt8] {
        (isEmpty ? [] : newLine(depth - 1)) + [UInt8(ascii: kind == .array ? "]" : "}")]
    }

    private func newLine(_ depth: Int) -> [UInt8] {
        guard let width = layout.indent else { return [] }
        return [UInt8(ascii: "\n")] + [UInt8](repeating: UInt8(ascii: " "), count: width * depth)
    }
}
