/// Continuations of a frame.
extension JSONAutomaton {
    /// The frame with its next item begun.
    func writingItem(_ number: Int32) -> Int32 {
        var frame = frames[Int(number)]
        let array = arrays[Int(frame.shape)]
        frame.count += 1
        if array.maxCount == nil {
            frame.count = min(frame.count, Int32(max(array.prefix.count, array.minCount)))
        }
        return self.number(of: frame)
    }

    /// The frame with a known member's value begun.
    func writing(_ member: Int32, _ number: Int32) -> Int32 {
        var frame = frames[Int(number)]
        frame.position = member + 1
        return self.number(of: counted(frame))
    }

    /// The frame with a free member's value begun.
    /// - Parameter name: nil if unknown; then no free name can follow.
    func writing(freeName name: [UInt8]?, _ number: Int32) -> Int32 {
        var frame = frames[Int(number)]
        frame.position = Int32(objects[Int(frame.shape)].shape.members.count)
        // An unknown name leaves the set unchanged, and marks it.
        frame.names = name.map { nameSets.adding($0, to: frame.names) } ?? -frame.names - 1
        return self.number(of: counted(frame))
    }

    private func counted(_ frame: Frame) -> Frame {
        var frame = frame
        let object = objects[Int(frame.shape)]
        frame.count += 1
        if object.shape.maxCount == nil { frame.count = min(frame.count, Int32(object.shape.minCount)) }
        return frame
    }

    func facts(of frame: Frame) -> FrameFacts {
        let parent = frame.parent < 0 ? nil : frameFacts[Int(frame.parent)]
        var facts = FrameFacts(
            depth: (parent?.depth ?? 0) + 1, closing: [], closingBytes: 0, isWay: parent?.isWay ?? true,
            open: 0..<0, mayBeFree: false,
            mayClose: false, item: nil)
        switch frame.kind {
        case .array:
            let array = arrays[Int(frame.shape)]
            facts.mayClose = frame.count >= array.minCount
            facts.item = item(frame.count, of: array)
        case .object:
            let object = objects[Int(frame.shape)]
            facts.mayClose =
                frame.count >= object.shape.minCount && object.requiredFrom[Int(frame.position)] == 0
            facts.open = open(frame, object)
            facts.mayBeFree = mayBeFree(frame, object)
        }
        facts.closing = rest(of: frame, facts, isFirst: false)
        facts.closingBytes = facts.closing.count + (parent?.closingBytes ?? 0)
        if frame.kind == .object, frame.names < 0, frame.count < objects[Int(frame.shape)].shape.minCount {
            facts.isWay = false
        }
        return facts
    }

    func item(_ index: Int32, of array: ArrayShape) -> Int? {
        if let most = array.maxCount, index >= most { return nil }
        return index < array.prefix.count ? array.prefix[Int(index)] : array.rest
    }

    /// The known members that may come next: none before a required one, and none that would leave too few or too many
    /// others.
    private func open(_ frame: Frame, _ object: ObjectFacts) -> Range<Int32> {
        let count = Int32(object.shape.members.count)
        let required = object.nextRequired[Int(frame.position)]
        var low = frame.position
        var high = min(required, count - 1)
        if let most = object.shape.maxCount {
            let room = Int32(clamping: most) - frame.count - object.requiredFrom[Int(frame.position)]
            if room <= 0 { low = required }
        }
        if let free = freeLeft(frame, object) {
            high = min(high, Int32(clamping: Int(frame.count + count) + free - object.shape.minCount))
        }
        return low <= high ? low..<(high + 1) : 0..<0
    }

    private func mayBeFree(_ frame: Frame, _ object: ObjectFacts) -> Bool {
        guard object.shape.free != nil, frame.names >= 0,
            object.requiredFrom[Int(frame.position)] == 0
        else { return false }
        if let most = object.shape.maxCount, frame.count >= most { return false }
        guard let free = freeLeft(frame, object) else { return true }
        return free >= 1 && Int(frame.count) + free >= object.shape.minCount
    }

    /// Number of free names left; nil for infinitely many.
    private func freeLeft(_ frame: Frame, _ object: ObjectFacts) -> Int? {
        object.freeCount.map { $0 - nameCount(frame) }
    }

    /// Number of free names that the frame has.
    func nameCount(_ frame: Frame) -> Int {
        frame.names >= 0 ? nameSets.count(of: frame.names) : nameSets.count(of: -frame.names - 1) + 1
    }
}
