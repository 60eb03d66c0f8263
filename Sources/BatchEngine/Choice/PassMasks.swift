import FoundationShim
import OperatingSystem

/// Masks of a pass's rows, each made once: by the mask thread during the forward pass, or by the thread that needs it
/// first.
final class PassMasks: Sendable {
    private enum Slot {
        case open(any Constraint)
        case taken
        case made(TokenMask)
    }

    private struct Slots {
        var slots: [Slot?]
        var next = 0

        /// Takes the next row whose mask nobody is making yet.
        mutating func takeNext() -> (Int, any Constraint)? {
            while next < slots.count {
                defer { next += 1 }
                if case .open(let constraint) = slots[next] {
                    slots[next] = .taken
                    return (next, constraint)
                }
            }
            return nil
        }
    }

    private let slots: Condition<Slots>

    /// - Parameter constraints: the constraint of each row, if it has one.
    init(_ constraints: [(any Constraint)?]) {
        slots = Condition(Slots(slots: constraints.map { $0.map(Slot.open) }))
    }

    /// Makes masks in the order of the rows until none is left.
    func make() {
        while let (row, constraint) = slots.withLock({ $0.takeNext() }) {
            let mask = constraint.allowed()
            slots.change { $0.slots[row] = .made(mask) }
        }
    }

    /// Returns the mask of a row; nil if it has no constraint. May be called once a row.
    func mask(of row: Int) -> TokenMask? {
        let slot = slots.wait { slots -> Slot?? in
            switch slots.slots[row] {
            case .taken?: return nil
            case .open(let constraint)?:
                slots.slots[row] = .taken
                return .some(.open(constraint))
            case let slot: return .some(slot)
            }
        }
        switch slot {
        case .open(let constraint)?: return constraint.allowed()
        case .made(let mask)?: return mask
        case .taken?, nil: return nil
        }
    }

    /// Drops all masks that are not begun.
    func drop() { slots.withLock { $0.next = $0.slots.count } }
}

/// Thread that makes the masks of one pass after the other. It starts with the first mask.
final class MaskThread {
    private let passes = Queue<PassMasks>()
    /// Whether the thread was started; nil before the first mask.
    private var isThere: Bool?

    deinit { passes.close() }

    /// Starts making the masks of a pass.
    /// - Returns: nil if no row has a constraint.
    func begin(_ constraints: [(any Constraint)?]) -> PassMasks? {
        guard constraints.contains(where: { $0 != nil }) else { return nil }
        let masks = PassMasks(constraints)
        let isThere = isThere ?? start()
        self.isThere = isThere
        // Without a thread, rows make their masks when they need them.
        if isThere { passes.put(masks) }
        return masks
    }

    private func start() -> Bool {
        do throws(SystemError) {
            try WorkerThread.start("phibatch masks") { [passes] in
                while let some = passes.wait(1) { for masks in some { masks.make() } }
            }
            return true
        } catch {
            return false
        }
    }
}
