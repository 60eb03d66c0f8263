import FoundationShim
import OperatingSystem

/// The masks of a step's rows, each made once: by a thread of their own while the forward pass runs, or, if it has
/// not come to one when the row's logits are there, by the thread that needs it.
final class StepMasks: Sendable {
    private enum Slot {
        case open(any Constraint)
        case taken
        case made(TokenMask)
    }

    private struct Slots {
        var slots: [Slot?]
        var next = 0

        /// The next row whose mask nobody makes yet.
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

    private let slots: Monitor<Slots>

    /// - Parameter constraints: for each row its constraint, if it has one.
    init(_ constraints: [(any Constraint)?]) {
        slots = Monitor(Slots(slots: constraints.map { $0.map(Slot.open) }))
    }

    /// Makes masks in the order of the rows until none is left.
    func make() {
        while let (row, constraint) = slots.withLock({ $0.takeNext() }) {
            let mask = constraint.allowed()
            slots.change { $0.slots[row] = .made(mask) }
        }
    }

    /// The mask of a row; nil if it has no constraint. To be asked for once.
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

    /// Nobody will ask for more.
    func drop() { slots.withLock { $0.next = $0.slots.count } }
}

/// The thread that makes the masks of one step after the other. There is none before the first mask.
final class MaskThread {
    private let steps = Mailbox<StepMasks>()
    /// Nil before the first mask; false if there can be no thread.
    private var isThere: Bool?

    deinit { steps.close() }

    /// Begins with the masks of a step.
    /// - Returns: nil if no row has a constraint.
    func begin(_ constraints: [(any Constraint)?]) -> StepMasks? {
        guard constraints.contains(where: { $0 != nil }) else { return nil }
        let masks = StepMasks(constraints)
        let isThere = isThere ?? start()
        self.isThere = isThere
        // Without a thread they are made when they are needed.
        if isThere { steps.put(masks) }
        return masks
    }

    private func start() -> Bool {
        do throws(WorkerThread.CannotStart) {
            try WorkerThread.start("phibatch masks") { [steps] in
                while let some = steps.wait(1) { for masks in some { masks.make() } }
            }
            return true
        } catch {
            return false
        }
    }
}
