import FoundationShim
import OperatingSystem

/// Masks of a pass's rows, each made once: by the mask thread during the forward pass, or by the thread that needs it
/// first.
final class PassMasks: Sendable {
    private enum Slot {
        case unconstrained
        case open(any Constraint)
        case taken
        case made(TokenMask)
    }

    private let count: Int
    private let slots: Condition<[Slot]>

    /// - Parameter constraints: the constraint of each row, if it has one.
    init(_ constraints: [(any Constraint)?]) {
        count = constraints.count
        slots = Condition(constraints.map { $0.map(Slot.open) ?? .unconstrained })
    }

    /// Makes masks in the order of the rows until none is left.
    func make() {
        for row in 0..<count {
            guard let constraint = take(row) else { continue }
            let mask = constraint.allowed()
            slots.change { $0[row] = .made(mask) }
        }
    }

    /// Takes the constraint of a row whose mask nobody is making yet.
    private func take(_ row: Int) -> (any Constraint)? {
        slots.withLock { slots in
            guard case .open(let constraint) = slots[row] else { return nil }
            slots[row] = .taken
            return constraint
        }
    }

    /// Returns the mask of a row; nil if it has no constraint. May be called once a row.
    func mask(of row: Int) -> TokenMask? {
        if let constraint = take(row) { return constraint.allowed() }
        return slots.wait { slots -> TokenMask?? in
            switch slots[row] {
            case .made(let mask): .some(mask)
            case .unconstrained: .some(nil)
            case .open, .taken: nil
            }
        }
    }

    /// Drops all masks that are not begun.
    func drop() {
        for row in 0..<count { _ = take(row) }
    }
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
