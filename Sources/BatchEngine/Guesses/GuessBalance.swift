/// Whether guessing pays: what steps took beside what as many tokens take without guesses.
///
/// `GuessPlan` expects it of each step, from what steps cost and how often guesses hold. Where it is mistaken, or looking
/// guesses up takes too long, there are none for a while; then some steps try again, after twice as many each time that it
/// doesn't pay. A step without guesses, now and then, shows what there is to gain. All that costs about a hundredth of the
/// time.
struct GuessBalance: Sendable {
    /// Seconds that the steps' tokens would have taken without guesses, and that they took; older steps count less.
    private var (worth, taken) = (0.0, 0.0)
    /// Steps since guessing began, or began again.
    private var steps = 0
    private var stepsSinceRest = 0
    /// Steps that are left without guesses.
    private var pause = 0
    private var nextPause = Self.firstPause

    private static let fading = 0.97
    private static let leastSteps = 12
    private static let firstPause = 128
    private static let longestPause = 1 << 14
    /// What comes nearer to its worth is worth it.
    private static let leastRatio = 0.995

    /// Whether guesses are to be made.
    var isOpen: Bool { pause == 0 }

    /// Whether a step without guesses is due, where they are expected to gain so many times as much: the less, the less
    /// it costs.
    func isRestDue(gain: Double) -> Bool { Double(stepsSinceRest) >= max(32, 200 * (gain - 1)) }

    /// Takes note of a step of completions.
    /// - Parameters:
    ///   - guesses: whether it had any.
    ///   - worth: seconds that its tokens take without guesses; nil if that is not known.
    ///   - seconds: that it took, with the time in which guesses were looked up.
    mutating func note(guesses: Bool, worth: Double?, seconds: Double) {
        stepsSinceRest = guesses ? stepsSinceRest + 1 : 0
        guard isOpen else {
            pause -= 1
            return
        }
        guard let worth else { return }
        self.worth = self.worth * Self.fading + worth
        // One that took long, as somebody else had the processor, says little.
        taken = taken * Self.fading + min(seconds, 2 * worth)
        steps += 1
        if steps == nextPause { nextPause = Self.firstPause }
        guard self.worth < taken * Self.leastRatio else { return }
        // Few steps say little, unless a whole one is lost in them.
        guard steps >= Self.leastSteps || taken - self.worth > self.worth / Double(steps) else { return }
        (self.worth, taken, steps) = (0, 0, 0)
        (pause, nextPause) = (nextPause, min(2 * nextPause, Self.longestPause))
    }
}
